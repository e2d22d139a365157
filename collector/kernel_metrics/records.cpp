#include "kernel_metrics/records.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cstdio>
#include <memory>
#include <utility>

namespace lanescope::kernel_metrics {
namespace {

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

// Returns null if it is not a regular file: the program may have put anything there, and opening a pipe would wait for its writer.
File open_regular(const std::filesystem::path& path) {
  const int descriptor = open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (descriptor < 0) return nullptr;
  struct stat facts {};
  std::FILE* const file = fstat(descriptor, &facts) == 0 && S_ISREG(facts.st_mode) ? fdopen(descriptor, "rb") : nullptr;
  if (file == nullptr) close(descriptor);
  return File(file);
}

bool read_bytes(std::FILE* file, void* place, std::size_t size) { return std::fread(place, 1, size, file) == size; }

// Reads a record: its fixed part, of which the head was already read, and the parts that follow.
class RecordReader {
 public:
  RecordReader(std::FILE* file, std::uint64_t bytes) : file_(file), left_(bytes - sizeof(channel::RecordHead)) {}

  template <typename Record>
  bool read_fixed(Record& record) {
    constexpr std::size_t kSize = sizeof(Record) - sizeof(channel::RecordHead);
    if (left_ < kSize) return false;
    left_ -= kSize;
    return read_bytes(file_, reinterpret_cast<char*>(&record) + sizeof(channel::RecordHead), kSize);
  }
  template <typename Bytes>
  bool read_part(std::uint64_t size, Bytes& part) {
    if (size > left_) return false;
    left_ -= size;
    part.resize(size);
    return read_bytes(file_, part.data(), size);
  }

 private:
  std::FILE* file_;
  std::uint64_t left_;
};

bool read(std::FILE* file, const channel::RecordHead& head, Counted& counted) {
  RecordReader reader(file, head.bytes);
  counted.record.head = head;
  return reader.read_fixed(counted.record) && reader.read_part(counted.record.name_bytes, counted.kernel) &&
         reader.read_part(counted.record.reason_bytes, counted.reason) && reader.read_part(counted.record.image_bytes, counted.image);
}

bool read(std::FILE* file, const channel::RecordHead& head, RanKernel& kernel) {
  RecordReader reader(file, head.bytes);
  kernel.record.head = head;
  return reader.read_fixed(kernel.record) && reader.read_part(kernel.record.name_bytes, kernel.name);
}

bool read(std::FILE* file, const channel::RecordHead& head, LoadedCode& code) {
  RecordReader reader(file, head.bytes);
  code.record.head = head;
  return reader.read_fixed(code.record) && reader.read_part(code.record.code_bytes, code.code);
}

bool read(std::FILE* file, const channel::RecordHead& head, Begun& begun) {
  RecordReader reader(file, head.bytes);
  begun.record.head = head;
  return reader.read_fixed(begun.record) && reader.read_part(begun.record.name_bytes, begun.kernel);
}

// Seeks to the end of the record that begins at `begin`. Returns false if the file ends before that.
bool go_behind(std::FILE* file, std::uint64_t begin, std::uint64_t bytes, std::uint64_t file_size) {
  return bytes <= file_size - begin && fseeko(file, static_cast<off_t>(begin + bytes), SEEK_SET) == 0;
}

template <typename Record>
bool hand_over(std::FILE* file, const channel::RecordHead& head, const std::function<void(Record&&)>& take) {
  if (!take) return true;
  Record record{};
  if (!read(file, head, record)) return false;
  take(std::move(record));
  return true;
}

}  // namespace

Ending read_records(const std::filesystem::path& path, const std::function<void(Counted&&)>& counted, const std::function<void(RanKernel&&)>& ran,
                    const std::function<void(LoadedCode&&)>& loaded, const std::function<void(Begun&&)>& begun) {
  const File file = open_regular(path);
  struct stat facts {};
  if (!file || fstat(fileno(file.get()), &facts) != 0) return Ending::kCut;
  const auto size = static_cast<std::uint64_t>(facts.st_size);
  for (std::uint64_t begin = 0; begin < size;) {
    channel::RecordHead head{};
    if (!read_bytes(file.get(), &head, sizeof(head)) || head.bytes < sizeof(head) || head.bytes > channel::kMostCounterBytes) return Ending::kCut;
    const bool is_whole = head.mark == channel::kCounterRecordMark  ? hand_over(file.get(), head, counted)
                          : head.mark == channel::kKernelRecordMark ? hand_over(file.get(), head, ran)
                          : head.mark == channel::kCodeRecordMark   ? hand_over(file.get(), head, loaded)
                          : head.mark == channel::kBeginRecordMark  ? hand_over(file.get(), head, begun)
                                                                    : false;
    if (!is_whole || !go_behind(file.get(), begin, head.bytes, size)) return Ending::kCut;
    begin += head.bytes;
  }
  return Ending::kWhole;
}

RanKernels read_kernels(const std::filesystem::path& path) {
  RanKernels kernels;
  read_records(path, {}, [&kernels](RanKernel&& kernel) {
    // The agent's own record has no block. CUPTI's record comes from another thread, so it may be written before the agent's.
    const bool stands_in = !kernel.name.empty() && kernel.record.block[0] == 0;
    const std::uint32_t launch = kernel.record.correlation;
    if (stands_in)
      kernels.try_emplace(launch, std::move(kernel));
    else
      kernels.insert_or_assign(launch, std::move(kernel));
  });
  return kernels;
}

}  // namespace lanescope::kernel_metrics
