// Hostile files: code of GPUs, PC samples, and counters of kernels.
#include <algorithm>
#include <cstring>
#include <functional>

#include "chunks.h"
#include "kinds.h"
#include "lanescope/kernel_metrics.pb.h"

namespace lanescope::test {
namespace {

constexpr std::size_t kHeaderBytes = 64;   // of an ELF file, and of each of its sections
constexpr std::uint32_t kSymbolTable = 2;  // SHT_SYMTAB
constexpr std::size_t kMostSections = 65'000;

template <typename Number>
void set(std::string& bytes, std::size_t place, Number number) {
  std::memcpy(bytes.data() + place, &number, sizeof(number));
}

struct Section {
  std::uint32_t name = 0;  // offset in the contents
  std::uint32_t type = 1;
  std::uint32_t link = 0;
  std::uint64_t offset = 0;  // in the contents
  std::uint64_t size = 0;
};

// A cubin: contents, and sections that are parts of them. The first section holds the names of all sections.
std::string cubin(const std::string& contents, const std::vector<Section>& sections) {
  std::string image(kHeaderBytes, '\0');
  image.replace(0, 4,
                "\x7f"
                "ELF");
  image[4] = 2;
  image[5] = 1;
  set<std::uint16_t>(image, 18, 190);
  set<std::uint64_t>(image, 40, kHeaderBytes + contents.size());
  set<std::uint16_t>(image, 58, kHeaderBytes);
  set<std::uint16_t>(image, 60, static_cast<std::uint16_t>(sections.size()));
  image += contents;
  for (const Section& section : sections) {
    std::string header(kHeaderBytes, '\0');
    set(header, 0, section.name);
    set(header, 4, section.type);
    set(header, 24, kHeaderBytes + section.offset);
    set<std::uint64_t>(header, 32, section.size);
    set(header, 40, section.link);
    image += header;
  }
  return image;
}

// Samples at two places of function 0 of the code, and a long kernel of its name.
void add_samples(FileOfFrames& file) {
  proto::EventChunk chunk = chunk_at(0);
  chunk.set_first_string(1);
  chunk.add_strings("f");
  kernels_in(chunk, 1).set_name(0, 1);
  chunk.mutable_kernels()->set_duration(0, 1'000'000);
  file.add(proto::FRAME_EVENTS, chunk, kProcess, 0, 1);
  proto::PcSamples samples;
  samples.set_begin(kEpoch);
  samples.set_duration(1'000'000);
  samples.set_first_function(1);
  samples.add_functions()->set_name("f");
  samples.set_first_reason(1);
  samples.add_reasons("long_scoreboard");
  for (int i = 0; i < 2'000; ++i) {
    samples.add_function(1);
    samples.add_pc_delta(16);
    samples.add_reason(1);
    samples.add_samples(1'000);
    samples.add_not_issued(1'000);
  }
  file.add(proto::FRAME_PC_SAMPLES, samples);
}
void add_code(FileOfFrames& file, const std::string& image) {
  constexpr std::size_t kPart = 4u << 20;
  for (std::size_t at = 0; at < image.size(); at += kPart) {
    proto::CodeObject part;
    part.set_size(image.size());
    part.set_offset(at);
    part.set_image(image.substr(at, kPart));
    file.add(proto::FRAME_CODE_OBJECT, part);
  }
}
// A text that ends only with the file, in which all names of sections start.
void code_of_long_names(const Path& path, std::size_t bytes) {
  FileOfFrames file(path, bytes);
  std::string contents(bytes / 2, 'x');
  contents.back() = '\0';
  std::vector<Section> sections(std::min(kMostSections, bytes / 2 / kHeaderBytes));
  for (std::size_t i = 0; i < sections.size(); ++i) sections[i].name = static_cast<std::uint32_t>(i);
  sections.front().size = contents.size();
  add_code(file, cubin(contents, sections));
  add_samples(file);
}
// The same for names of symbols; the first symbol is the function of the samples.
void code_of_long_symbols(const Path& path, std::size_t bytes) {
  constexpr std::size_t kSymbolBytes = 24;
  FileOfFrames file(path, bytes);
  std::string contents(bytes / 2, 'x');
  contents.back() = '\0';
  const std::size_t symbols = bytes / 2 / kSymbolBytes;
  for (std::size_t i = 0; i < symbols; ++i) {
    std::string symbol(kSymbolBytes, '\0');
    set(symbol, 0, static_cast<std::uint32_t>(i));
    symbol[4] = 0x12;  // a global function
    contents += symbol;
  }
  const std::uint64_t names = bytes / 2;
  add_code(file, cubin(contents, {{0, 1, 0, 0, names}, {0, kSymbolTable, 0, names, symbols * kSymbolBytes}}));
  add_samples(file);
}
// Sections of relocations that all share the same bytes.
void code_of_relocations(const Path& path, std::size_t bytes) {
  FileOfFrames file(path, bytes);
  std::string contents = std::string(".rela.debug_line") + '\0' + ".debug_line" + '\0';
  const std::size_t end_of_names = contents.size();
  contents.resize(bytes / 2);
  const std::uint64_t all = contents.size() - end_of_names;
  std::vector<Section> sections(std::min(kMostSections, bytes / 2 / kHeaderBytes), Section{0, 4, 0, end_of_names, all});
  sections[0] = {0, 1, 0, 0, end_of_names};
  sections[1] = {0, kSymbolTable, 0, end_of_names, all};
  sections[2] = {17, 1, 0, end_of_names, all};
  add_code(file, cubin(contents, sections));
  add_samples(file);
}
// A line table in which a folder with a long name holds very many files.
void code_of_long_folders(const Path& path, std::size_t bytes) {
  FileOfFrames file(path, bytes);
  std::string contents = std::string(".debug_line") + '\0';
  const std::size_t begin = contents.size();
  contents += std::string("\0\0\0\0\2\0\0\0\0\0\1\1\0\1\1", 15) + std::string(bytes / 2, 'x') + std::string("\0\0", 2);
  std::uint32_t number = 0;
  while (contents.size() < bytes - 1'000) contents += "f" + std::to_string(number++) + std::string("\0\1\0\0", 4);
  contents += '\0';
  set(contents, begin, static_cast<std::uint32_t>(contents.size() - begin - 4));
  add_code(file, cubin(contents, {{0, 1, 0, 0, begin}, {0, 1, 0, begin, contents.size() - begin}}));
  add_samples(file);
}
// A line table with rows of one byte. It is as long as a payload of zeros may be, and takes no room in the file.
void code_of_many_rows(const Path& path, std::size_t bytes) {
  FileOfFrames file(path, bytes);
  std::string contents = std::string(".debug_line") + '\0';
  const std::size_t begin = contents.size();
  contents += std::string("\0\0\0\0\2\0\6\0\0\0\1\1\0\1\1\0\0", 17) + std::string(60u << 20, '\1');
  set(contents, begin, static_cast<std::uint32_t>(contents.size() - begin - 4));
  const std::string image = cubin(contents, {{0, 1, 0, 0, begin}, {0, 1, 0, begin, contents.size() - begin}});
  add_code(file, image);
  add_samples(file);
}
void code_in_small_parts(const Path& path, std::size_t bytes) {
  FileOfFrames file(path, bytes);
  proto::CodeObject part;
  part.set_size(1u << 30);
  part.set_image(std::string(4u << 20, 'x'));
  file.add(proto::FRAME_CODE_OBJECT, part);
  part.set_image("x");
  for (std::uint64_t offset = 4u << 20; !file.is_full(); ++offset) {
    part.set_offset(offset);
    file.add(proto::FRAME_CODE_OBJECT, part);
  }
}
void much_code(const Path& path, std::size_t bytes) {
  FileOfFrames file(path, bytes);
  proto::CodeObject part;
  part.set_size(1);
  part.set_image("x");
  std::uint32_t next = 1;
  while (!file.is_full()) {
    proto::PcSamples samples;
    samples.set_begin(kEpoch);
    samples.set_duration(1'000);
    samples.set_first_function(next);
    samples.set_first_reason(1);
    samples.add_reasons("barrier");
    for (int i = 0; i < 100; ++i, ++next) {
      part.set_crc(next);
      file.add(proto::FRAME_CODE_OBJECT, part);
      samples.add_functions()->set_code_object(next);
      samples.add_function(next);
      samples.add_pc_delta(0);
      samples.add_reason(1);
      samples.add_samples(1);
    }
    file.add(proto::FRAME_PC_SAMPLES, samples);
  }
}
void fill_with_windows(FileOfFrames& file, std::size_t rows, const std::function<void(proto::PcSamples&, std::uint32_t)>& change) {
  for (std::uint32_t number = 0; !file.is_full(); ++number) {
    proto::PcSamples samples;
    samples.set_begin(kEpoch + std::int64_t{number} * 100'000'000);
    samples.set_duration(90'000'000);
    samples.set_first_function(1);
    samples.add_functions()->set_name("f");
    for (std::size_t i = 0; i < rows; ++i) {
      samples.add_function(1);
      samples.add_pc_delta(16);
      samples.add_reason(1);
      samples.add_samples(1);
    }
    change(samples, number);
    file.add(proto::FRAME_PC_SAMPLES, samples);
  }
}
void many_stall_reasons(const Path& path, std::size_t bytes) {
  FileOfFrames file(path, bytes);
  fill_with_windows(file, 1, [next = 1u](proto::PcSamples& samples, std::uint32_t) mutable {
    samples.set_first_reason(next);
    for (int i = 0; i < 10; ++i) samples.add_reasons("r" + std::to_string(next++));
    samples.set_reason(0, next - 1);
  });
}
void sampled_gpus(const Path& path, std::size_t bytes) {
  FileOfFrames file(path, bytes);
  fill_with_windows(file, 1, [](proto::PcSamples& samples, std::uint32_t number) {
    samples.set_first_reason(1);
    samples.add_reasons("barrier");
    samples.set_device(number);
  });
}
void sampled_processes(const Path& path, std::size_t bytes) {
  FileOfFrames file(path, bytes);
  for (std::uint32_t process = 2; !file.is_full(); ++process) {
    proto::PcSamples samples;
    samples.set_begin(kEpoch + process);
    samples.set_duration(10);
    file.add(proto::FRAME_PC_SAMPLES, samples, process);
  }
}
void sampled_instructions(const Path& path, std::size_t bytes) {
  FileOfFrames file(path, bytes);
  std::uint32_t first = 0;
  fill_with_windows(file, kRows, [&first](proto::PcSamples& samples, std::uint32_t) {
    samples.set_first_reason(1);
    samples.add_reasons("barrier");
    samples.set_pc_delta(0, 16 * std::int64_t{first += kRows});
  });
}
void long_names_of_functions(const Path& path, std::size_t bytes) {
  FileOfFrames file(path, bytes);
  std::uint32_t next = 1;
  while (!file.is_full()) {
    proto::PcSamples samples;
    samples.set_begin(kEpoch);
    samples.set_duration(1'000);
    samples.set_first_function(next);
    samples.set_first_reason(1);
    samples.add_reasons("barrier");
    for (int i = 0; i < 1'000; ++i, ++next) {
      proto::GpuFunction& function = *samples.add_functions();
      function.set_index(next);
      function.set_name(std::string(8'000, 'n'));
      samples.add_function(next);
      samples.add_pc_delta(0);
      samples.add_reason(1);
      samples.add_samples(1);
    }
    file.add(proto::FRAME_PC_SAMPLES, samples);
  }
}

// Launches that have counters, with a kernel each.
void add_launches(FileOfFrames& file, std::uint32_t count, const std::string& name) {
  for (std::uint32_t first = 0; first < count; first += kRows) {
    proto::EventChunk chunk = chunk_at(first * 2);
    chunk.set_first_string(1);
    chunk.add_strings(name);
    proto::Kernels& kernels = kernels_in(chunk, std::min<std::size_t>(kRows, count - first));
    repeat(*kernels.mutable_name(), 1u, static_cast<std::size_t>(kernels.start_delta_size()));
    repeat(*kernels.mutable_correlation_delta(), std::int64_t{1}, static_cast<std::size_t>(kernels.start_delta_size()));
    kernels.set_correlation_delta(0, first + 1);
    file.add(proto::FRAME_EVENTS, chunk, kProcess, 0, static_cast<std::uint32_t>(kernels.start_delta_size()));
  }
}
constexpr int kLaunches = 500'000;
void measured_launches_of_a_long_name(const Path& path, std::size_t bytes) {
  FileOfFrames file(path, bytes);
  add_launches(file, kLaunches, std::string(60'000, 'k'));
  proto::KernelMetrics metrics;
  for (std::uint32_t i = 0; i < kLaunches; ++i) metrics.add_launches()->set_correlation(i + 1);
  file.add(proto::FRAME_KERNEL_METRICS, metrics, kProcess, proto::SOURCE_KERNEL_METRICS);
}
void many_metrics(const Path& path, std::size_t bytes) {
  FileOfFrames file(path, bytes);
  add_launches(file, kLaunches, "k");
  proto::KernelMetrics launches;
  for (std::uint32_t i = 0; i < kLaunches; ++i) launches.add_launches()->set_correlation(i + 1);
  file.add(proto::FRAME_KERNEL_METRICS, launches, kProcess, proto::SOURCE_KERNEL_METRICS);
  for (std::uint32_t next = 0; !file.is_full();) {
    proto::KernelMetrics metrics;
    for (int i = 0; i < 100'000; ++i) metrics.add_metrics("metric " + std::to_string(next++));
    file.add(proto::FRAME_KERNEL_METRICS, metrics, kProcess, proto::SOURCE_KERNEL_METRICS);
  }
}
void empty_launches(const Path& path, std::size_t bytes) {
  FileOfFrames file(path, bytes);
  std::string launches;
  while (launches.size() < kHugeColumns) launches += field(3, "");
  file.fill_with(proto::FRAME_KERNEL_METRICS, launches);
}
// Instructions of one function, as many as the file holds, each with a different count.
void counted_instructions(const Path& path, std::size_t bytes) {
  FileOfFrames file(path, bytes);
  std::int64_t pc = 0;
  for (std::uint32_t launch = 1; !file.is_full(); ++launch) {
    proto::InstructionCounts counts;
    counts.set_correlation(launch);
    counts.add_metrics("smsp__sass_inst_executed");
    counts.add_functions()->set_name("k");
    repeat(*counts.mutable_function(), 0u);
    repeat(*counts.mutable_pc_delta(), std::int64_t{16});
    counts.set_pc_delta(0, pc);
    pc += 16 * static_cast<std::int64_t>(kRows);
    repeat(*counts.mutable_values(), std::uint64_t{1});
    file.add(proto::FRAME_INSTRUCTION_COUNTS, counts, kProcess, proto::SOURCE_KERNEL_METRICS);
  }
}
void measured_processes(const Path& path, std::size_t bytes) {
  FileOfFrames file(path, bytes);
  proto::KernelMetrics metrics;
  metrics.add_launches()->set_correlation(1);
  for (std::uint32_t process = 2; !file.is_full(); ++process) {
    file.add(proto::FRAME_PROCESS_START, proto::ProcessStart(), process);
    file.add(proto::FRAME_KERNEL_METRICS, metrics, process, proto::SOURCE_KERNEL_METRICS);
  }
}
// One launch with a measurement, among as many others as the file holds.
void a_measured_launch_of_very_many(const Path& path, std::size_t bytes) {
  FileOfFrames file(path, bytes);
  proto::KernelMetrics metrics;
  metrics.add_metrics("gpu__time_duration.sum");
  metrics.add_launches()->set_correlation(1);
  metrics.mutable_launches(0)->add_values(1);
  file.add(proto::FRAME_KERNEL_METRICS, metrics, kProcess, proto::SOURCE_KERNEL_METRICS);
  std::uint32_t next = 1;
  fill_with_chunks(file, kChunkSpan, [&next](proto::EventChunk& chunk) {
    repeat(*kernels_in(chunk).mutable_correlation_delta(), std::int64_t{1});
    chunk.mutable_kernels()->set_correlation_delta(0, next);
    next += kRows;
  });
}

}  // namespace

std::vector<HostileFile> kernel_records() {
  return {
      {"code_of_long_names", &code_of_long_names},
      {"code_of_long_symbols", &code_of_long_symbols},
      {"code_of_relocations", &code_of_relocations},
      {"code_of_long_folders", &code_of_long_folders},
      {"code_of_many_rows", &code_of_many_rows},
      {"code_in_small_parts", &code_in_small_parts},
      {"much_code", &much_code},
      {"many_stall_reasons", &many_stall_reasons},
      {"sampled_gpus", &sampled_gpus},
      {"sampled_processes", &sampled_processes},
      {"sampled_instructions", &sampled_instructions},
      {"long_names_of_functions", &long_names_of_functions},
      {"measured_launches_of_a_long_name", &measured_launches_of_a_long_name},
      {"many_metrics", &many_metrics},
      {"empty_launches", &empty_launches},
      {"counted_instructions", &counted_instructions},
      {"measured_processes", &measured_processes},
      {"a_measured_launch_of_very_many", &a_measured_launch_of_very_many},
  };
}

}  // namespace lanescope::test
