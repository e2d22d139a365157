#include "model/import/open_trace.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <new>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

#include "chrome/text_source.h"
#include "model/file/frame.h"
#include "model/import/chrome_json.h"
#include "model/import/ncu_csv.h"
#include "model/import/nsys_sqlite.h"

namespace lanescope {
namespace {

struct Candidate {
  const std::filesystem::path& path;
  std::string_view head;  // the file's first bytes
  std::string unpacked;   // the first bytes of the unpacked content if it is gzip; else empty
  [[nodiscard]] bool named(std::string_view extension) const { return path.extension() == extension; }
};

constexpr std::string_view kSqliteMagic{"SQLite format 3\0", 16};

bool is_lanescope(const Candidate& file) { return file.head.starts_with({reinterpret_cast<const char*>(kFileMagic), sizeof kFileMagic}); }
bool is_nsys(const Candidate& file) { return file.head.starts_with(kSqliteMagic) && may_be_nsys_sqlite(file.path); }
bool is_ncu_csv(const Candidate& file) { return looks_like_ncu_csv(file.head) || looks_like_ncu_csv(file.unpacked); }
bool is_json(const Candidate& file) { return looks_like_chrome_json(file.head) && !file.named(".hatchet"); }

// A pprof profile begins with a value type: a short message of two numbers.
bool is_pprof(std::string_view bytes) { return bytes.size() > 5 && bytes.starts_with("\x0a\x04\x08") && bytes[4] == '\x10'; }

constexpr std::string_view kNcuReportMagic("NVR\0", 4);  // in reports of Nsight Compute 2025.3.1
constexpr std::string_view kNsysReportMagic = "NVIDIA Tegra Profiler Report";

// Formats that can be read, in addition to Lanescope's own. A new format needs a line here and a line in kReadableNames.
struct Reader {
  bool (*recognizes)(const Candidate&);
  Result<std::shared_ptr<const Trace>> (*open)(const std::filesystem::path&, const LoadProgress&);
};
constexpr std::array kReaders = {
    Reader{is_nsys, import_nsys_sqlite},
    Reader{is_json, import_chrome_json},
    Reader{is_ncu_csv, import_ncu_csv},
};
constexpr std::array kReadableNames = {
    TraceFileFormat{"Lanescope trace", "*.trace"},
    TraceFileFormat{"Nsight Systems SQLite", "*.sqlite *.db"},
    TraceFileFormat{"Chrome JSON, PyTorch profiler", "*.json *.json.gz"},
    TraceFileFormat{kNsightComputeFormat, "*.csv"},
};

// Known formats that can't be read: what the file is and how to convert it; FILE stands for its path.
struct ForeignFormat {
  bool (*recognizes)(const Candidate&);
  std::string_view explanation;
};
constexpr std::array kForeignFormats = {
    ForeignFormat{[](const Candidate& file) { return file.unpacked.starts_with(kSqliteMagic) || file.unpacked.starts_with(kNsysReportMagic); },
                  "is compressed. Unpack it first: gunzip -k FILE"},
    ForeignFormat{[](const Candidate& file) { return file.head.starts_with("PK\x03\x04"); }, "is an archive. Unpack it first: unzip FILE"},
    ForeignFormat{[](const Candidate& file) { return file.head.starts_with("\x28\xb5\x2f\xfd"); }, "is compressed with zstd. Unpack it first: unzstd FILE"},
    ForeignFormat{[](const Candidate& file) {
                    return file.head.starts_with(
                        "\xfd"
                        "7zXZ");
                  },
                  "is compressed with xz. Unpack it first: unxz -k FILE"},
    ForeignFormat{[](const Candidate& file) { return file.named(".qdstrm"); },
                  "is raw data of Nsight Systems, which only its own importer reads. Convert it with: nsys import FILE, and then: nsys "
                  "export -t sqlite REPORT"},
    ForeignFormat{[](const Candidate& file) { return file.head.starts_with(kNsysReportMagic) || file.named(".nsys-rep") || file.named(".qdrep"); },
                  "is a report of Nsight Systems, whose format is not public. Convert it with: nsys export -t sqlite FILE"},
    ForeignFormat{[](const Candidate& file) { return file.head.starts_with(kNcuReportMagic) || file.named(".ncu-rep"); },
                  "is a report of Nsight Compute, whose format is not public. Export its values with: ncu --import FILE --csv --page raw > kernels.csv"},
    ForeignFormat{[](const Candidate& file) { return file.named(".pftrace") || file.named(".perfetto-trace"); },
                  "is a Perfetto trace. Convert it with: traceconv json FILE"},
    ForeignFormat{[](const Candidate& file) { return file.head.starts_with("\x89HDF\r\n\x1a\n"); },
                  "is HDF5, as Nsight Systems exports reports with -t hdf. Export the report in a form that can be read: nsys export -t sqlite "
                  "REPORT"},
    ForeignFormat{
        [](const Candidate& file) { return file.head.starts_with("ARROW1") || file.head.starts_with("PAR1") || file.named(".arrows"); },
        "is Arrow or Parquet: a table that was exported from a trace or a report. Open the trace itself, or export the report of Nsight Systems in a form "
        "that can be read: nsys export -t sqlite REPORT"},
    ForeignFormat{[](const Candidate& file) { return file.path.string().ends_with(".xplane.pb"); },
                  "is a profile of JAX or TensorFlow. Open what their profiler writes beside it, which can be read: *.trace.json.gz"},
    ForeignFormat{[](const Candidate& file) { return is_pprof(file.head) || is_pprof(file.unpacked); },
                  "is a profile of pprof, which has no timeline. Print it with: pprof -top FILE"},
    ForeignFormat{[](const Candidate& file) { return file.named(".pb"); },
                  "is data of protocol buffers, which do not say what they hold. If it is a Perfetto trace, convert it with: traceconv json "
                  "FILE"},
    ForeignFormat{[](const Candidate& file) { return file.named(".nvvp") || file.named(".nvprof"); },
                  "is a profile of nvprof, which no tool converts. Record the program again: lanescope profile PROGRAM"},
    ForeignFormat{[](const Candidate& file) { return file.named(".rpd"); },
                  "is a trace of rocmProfileData. Convert it with its tool: python3 rpd2tracing.py FILE trace.json"},
    ForeignFormat{[](const Candidate& file) { return file.named(".otf2"); },
                  "is an archive of OTF2. Let the tool that wrote it write JSON of Chrome; of rocprofv3, ask for pftrace (--output-format pftrace), "
                  "and convert that with: traceconv json"},
    ForeignFormat{[](const Candidate& file) { return file.named(".hatchet"); },
                  "is a call tree of Triton's Proton, which has no timeline. Record one: proton.start(data=\"trace\"), or lanescope profile "
                  "PROGRAM"},
    ForeignFormat{[](const Candidate& file) { return file.head.starts_with("PERFILE2"); },
                  "is a recording of Linux perf, which knows no GPU. Record the program again: lanescope profile -s process-tree PROGRAM"},
    ForeignFormat{[](const Candidate& file) { return file.named(".tracy"); },
                  "is a trace of Tracy, which no tool converts to one that can be read. Record the program again: lanescope profile PROGRAM"},
    ForeignFormat{[](const Candidate& file) { return file.head.starts_with(kSqliteMagic); },
                  "is a SQLite database, but not an export of Nsight Systems. Export a report with: nsys export -t sqlite REPORT"},
};

std::string explained(const ForeignFormat& format, const std::filesystem::path& path) {
  std::string text(format.explanation);
  if (const auto position = text.find("FILE"); position != std::string::npos) text.replace(position, 4, path.string());
  return path.string() + " " + text;
}

bool is_folder_of_tables(const std::filesystem::path& path) {
  const std::string name = path.filename().string();
  return name.ends_with("_pqtdir") || name.ends_with("_arwdir");
}

std::string advice_about_folder(const std::filesystem::path& path) {
  constexpr int kMostLooks = 1'000;
  std::error_code failed;
  int looks = 0;
  for (std::filesystem::directory_iterator entry(path, failed), end; !failed && entry != end && looks++ < kMostLooks; entry.increment(failed))
    if (entry->path().extension() == ".parquet") return "It holds tables that were exported from a trace: open the trace itself.";
  return "Name a file in it.";
}

Result<std::shared_ptr<const Trace>> open_recognized(const std::filesystem::path& path, const LoadProgress& progress, EventPlace place) {
  std::error_code ignored;  // if the path can't be examined, opening it reports why
  const std::filesystem::file_status status = std::filesystem::status(path, ignored);
  if (std::filesystem::is_directory(status)) {
    if (is_folder_of_tables(path))
      return Error{path.string() +
                   " is a folder of tables that Nsight Systems exported. Export the report in a form that can be read: nsys "
                   "export -t sqlite REPORT"};
    return Error{path.string() + " is a folder, not a trace file. " + advice_about_folder(path)};
  }
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status))
    return Error{path.string() + " is no file but a pipe or a device, which can't be read from its beginning again. Save what comes from it, and open that."};
  std::array<char, 4096> head;
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);  // without O_NONBLOCK, some files of the kernel make their readers wait
  if (descriptor < 0) return Error{path.string() + " can't be opened: " + std::strerror(errno) + "."};
  const ssize_t size = pread(descriptor, head.data(), head.size(), 0);
  close(descriptor);
  const std::string_view begin{head.data(), size > 0 ? static_cast<std::size_t>(size) : 0};
  const Candidate file{path, begin, begin.starts_with("\x1f\x8b") ? importers::beginning_of_gzip(begin) : std::string()};

  if (is_lanescope(file)) return load_trace(path, progress, place);
  for (const Reader& reader : kReaders)
    if (reader.recognizes(file)) return reader.open(path, progress);
  for (const ForeignFormat& format : kForeignFormats)
    if (format.recognizes(file)) return Error{explained(format, path)};
  if (begin.empty() || file.named(".trace")) return load_trace(path, progress);  // reports what is wrong with the file
  return Error{path.string() +
               " is no trace that can be read. What can: .trace files, Nsight Systems' SQLite (nsys export -t sqlite REPORT), JSON of Chrome and "
               "of PyTorch's profiler, also as gzip, CSV of Nsight Compute (ncu --import REPORT --csv --page raw)."};
}

}  // namespace

std::span<const TraceFileFormat> readable_trace_formats() noexcept { return kReadableNames; }

Result<std::shared_ptr<const Trace>> open_trace(const std::filesystem::path& path, const LoadProgress& progress, EventPlace place) {
  try {
    return open_recognized(path, progress, place);
  } catch (const std::bad_alloc&) {
  } catch (const std::length_error&) {  // a container can't grow further
  } catch (const std::system_error&) {  // a thread can't be started
  }
  return Error{"There is not enough memory to read " + path.string() + ". Close other programs, or read it on a machine that has more."};
}

Result<std::vector<std::filesystem::path>> trace_files(std::span<const std::filesystem::path> paths) {
  std::vector<std::filesystem::path> files;
  for (const std::filesystem::path& path : paths) {
    std::error_code unreadable;
    if (!std::filesystem::is_directory(path, unreadable) || is_folder_of_tables(path)) {
      files.push_back(path);  // opening it reports what it is
      continue;
    }
    const std::size_t before = files.size();
    for (std::filesystem::directory_iterator entry(path, unreadable), end; !unreadable && entry != end; entry.increment(unreadable))
      if (entry->path().extension() == ".trace") files.push_back(entry->path());
    if (unreadable) return Error{path.string() + " can't be read: " + unreadable.message() + "."};
    if (files.size() == before) return Error{path.string() + " is a folder without .trace files. Name a trace file, or a folder with one for each rank."};
    std::sort(files.begin() + static_cast<std::ptrdiff_t>(before), files.end());
  }
  return files;
}

}  // namespace lanescope
