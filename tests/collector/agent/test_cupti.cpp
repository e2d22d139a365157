// The real agent over a CUPTI that a test controls: what it delivers must arrive, decoded by the real protobuf library.
#include <dlfcn.h>
#include <elf.h>
#include <link.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <span>

#include "lanescope/trace.pb.h"
#include "mock_cupti.h"
#include "model/file/frame_codec.h"
#include "support/catch.h"
#include "test_host.h"

using namespace lanescope;
using namespace lanescope::test;
namespace facts = lanescope::test::mock_cupti;

namespace {

const std::string kProgram = program("mock_cuda_program").string();
const std::map<std::string, std::string> kMock{{"LANESCOPE_CUPTI_LIBRARY", LANESCOPE_MOCK_CUPTI}};

std::map<std::string, std::string> mock_with(const std::string& variable, const std::string& value) {
  auto environment = kMock;
  environment[variable] = value;
  return environment;
}

struct KernelSeen {
  std::int64_t start;
  std::uint64_t duration;
  std::string name;
  std::uint32_t stream;
  proto::LaunchShape shape;
  std::int64_t graph_node;
  std::uint32_t graph;
  bool unfinished;
};

// Everything that the agent wrote, with ids resolved.
struct Decoded {
  std::map<std::uint32_t, std::string> strings;
  std::map<std::uint32_t, proto::LaunchShape> shapes;
  std::map<std::uint32_t, proto::Queue> queues;
  std::map<std::uint32_t, proto::CopyShape> copy_shapes;
  std::multimap<std::uint32_t, KernelSeen> kernels;                // by correlation id
  std::map<std::uint32_t, std::vector<std::int64_t>> call_starts;  // by thread
  std::map<std::int64_t, std::int64_t> call_by_correlation;
  std::vector<std::uint64_t> copied_bytes;
  std::size_t sets = 0;
  std::size_t waits = 0;
  std::vector<proto::MemoryUsage> memory_usage;
  std::vector<proto::Copies> migrations;
  std::vector<proto::PageFaults> page_faults;
  std::vector<proto::CudaEvents> cuda_events;
  std::vector<proto::Synchronizations> event_waits;
  std::size_t clock_readings = 0;
  proto::Resources resources;

  void add(const std::vector<std::byte>& frame) {
    FrameView view;
    std::memcpy(&view.header, frame.data(), sizeof(view.header));
    view.stored = std::span(frame).subspan(sizeof(view.header));
    REQUIRE(frame_is_sound(view));
    const auto payload = open_frame(view);
    REQUIRE(payload);
    CHECK(view.header.source == proto::SOURCE_AGENT);
    if (view.header.type == proto::FRAME_CLOCK_SYNC) ++clock_readings;
    if (view.header.type == proto::FRAME_RESOURCES) {
      proto::Resources message;
      REQUIRE(message.ParseFromString(*payload));
      resources.MergeFrom(message);
    }
    if (view.header.type != proto::FRAME_EVENTS) return;
    proto::EventChunk chunk;
    REQUIRE(chunk.ParseFromString(*payload));
    add(chunk, view.header.event_count);
  }

 private:
  template <typename Table, typename Entries>
  static void extend(Table& table, std::uint32_t first, const Entries& entries) {
    for (int i = 0; i < entries.size(); ++i) table[first + static_cast<std::uint32_t>(i)] = entries[i];
  }

  void add(const proto::EventChunk& chunk, std::uint32_t event_count) {
    extend(strings, chunk.first_string(), chunk.strings());
    extend(shapes, chunk.first_shape(), chunk.launch_shapes());
    extend(queues, chunk.first_queue(), chunk.queues());
    extend(copy_shapes, chunk.first_copy_shape(), chunk.copy_shapes());
    if (chunk.has_kernels()) add(chunk.kernels(), chunk.base_time(), event_count);
    if (chunk.has_api_calls()) add(chunk.api_calls(), chunk.base_time());
    if (chunk.has_memory_usage()) memory_usage.push_back(chunk.memory_usage());
    if (chunk.has_page_faults()) page_faults.push_back(chunk.page_faults());
    if (chunk.has_cuda_events()) cuda_events.push_back(chunk.cuda_events());
    if (chunk.has_copies() && chunk.copies().virtual_address_size() > 0) {
      migrations.push_back(chunk.copies());
    } else if (chunk.has_synchronizations() && chunk.synchronizations().event_record_size() > 0) {
      event_waits.push_back(chunk.synchronizations());
    } else if (chunk.has_copies()) {
      const proto::Copies& copies = chunk.copies();
      copied_bytes.insert(copied_bytes.end(), copies.bytes().begin(), copies.bytes().end());
      for (const auto id : copies.shape()) {
        CHECK(copy_shapes.at(id).kind() == proto::COPY_HOST_TO_DEVICE);
        CHECK(copy_shapes.at(id).source_memory() == proto::MEMORY_PINNED);
        CHECK(copy_shapes.at(id).asynchronous());
      }
    }
    if (chunk.has_sets()) {
      sets += static_cast<std::size_t>(chunk.sets().bytes_size());
      for (const auto value : chunk.sets().value()) CHECK(value == 0xab);
    }
    if (chunk.has_synchronizations() && chunk.synchronizations().event_record_size() == 0) {
      waits += static_cast<std::size_t>(chunk.synchronizations().type_size());
      for (const auto type : chunk.synchronizations().type()) CHECK(type == 3);
      for (const auto event : chunk.synchronizations().event()) CHECK(event == 0);
    }
  }

  void add(const proto::Kernels& c, std::int64_t time, std::uint32_t event_count) {
    CHECK(c.start_delta_size() == static_cast<int>(event_count));
    CHECK(event_count <= 65'536);
    std::int64_t correlation = 0;
    std::int64_t node = 0;
    for (int i = 0; i < c.start_delta_size(); ++i) {
      time += c.start_delta(i);
      correlation += c.correlation_delta(i);
      node += c.graph_node_delta(i);
      const bool unfinished = std::find(c.unfinished().begin(), c.unfinished().end(), static_cast<std::uint32_t>(i)) != c.unfinished().end();
      kernels.insert({static_cast<std::uint32_t>(correlation),
                      {time, c.duration(i), strings.at(c.name(i)), queues.at(c.queue(i)).stream(), shapes.at(c.shape(i)), node, c.graph(i), unfinished}});
    }
  }

  void add(const proto::ApiCalls& c, std::int64_t time) {
    CHECK_FALSE(c.driver());
    CHECK(c.result_size() == 0);
    std::int64_t correlation = 0;
    for (int i = 0; i < c.start_delta_size(); ++i) {
      time += c.start_delta(i);
      correlation += c.correlation_delta(i);
      CHECK(c.duration(i) == 150);
      CHECK(strings.at(c.name(i)) == "cudaLaunchKernel_v7000");
      call_starts[c.thread()].push_back(time);
      call_by_correlation[correlation] = time;
    }
  }
};

Decoded decode(const HostedProcess& process) {
  Decoded decoded;
  for (const auto& frame : process.frames) decoded.add(frame);
  return decoded;
}

std::vector<ReadRecord> diagnostics(const HostedProcess& process) {
  std::vector<ReadRecord> result;
  std::copy_if(process.metadata.begin(), process.metadata.end(), std::back_inserter(result),
               [](const ReadRecord& r) { return r.record.type == channel::RecordType::kDiagnostic; });
  return result;
}

std::uint64_t multiples(std::uint64_t count, std::uint64_t step) { return (count + step - 1) / step; }

}  // namespace

TEST_CASE("everything that CUPTI delivers arrives, once, with its attributes") {
  const std::uint64_t count = GENERATE(as<std::uint64_t>(), 1, 1'000, 150'000);
  TestHost host;
  timespec before{};
  clock_gettime(CLOCK_MONOTONIC, &before);
  REQUIRE(host.run({kProgram, std::to_string(count)}, kMock) == 0);
  REQUIRE(host.processes.size() == 1);
  const HostedProcess& process = *host.processes[0];
  const Decoded decoded = decode(process);

  CHECK(decoded.kernels.size() == count + facts::kUnfinished);
  CHECK(decoded.copied_bytes.size() == multiples(count, facts::kCopyEvery));
  CHECK(decoded.sets == multiples(count, facts::kSetEvery));
  CHECK(decoded.waits == 0);  // only the deep preset records them: CUPTI's records of waits are expensive
  CHECK(decoded.call_by_correlation.size() == count);
  CHECK(decoded.clock_readings >= 2);

  bool sound = true;
  std::uint64_t unfinished = 0;
  std::int64_t first = 0;
  for (const auto& [correlation, kernel] : decoded.kernels) {
    unfinished += kernel.unfinished ? 1 : 0;
    if (kernel.unfinished) continue;
    const std::uint64_t i = correlation - 1;
    if (i == 0) first = kernel.start;
    sound = sound && kernel.duration == 500 + i % 100 && kernel.name == facts::kNames[i % 3] && kernel.stream == facts::kFirstStream + i % facts::kStreams &&
            kernel.shape.grid_x() == 1 + i % 5 && kernel.shape.block_x() == 256 && kernel.shape.registers_per_thread() == 32 &&
            kernel.shape.dynamic_shared_memory() == 4096 && kernel.shape.local_memory_total() == std::uint64_t{6} << 30 &&
            kernel.graph_node == (i % 7 == 0 ? static_cast<std::int64_t>(5'000'000'000 + i) : 0) && kernel.graph == (i % 7 == 0 ? 11u : 0u);
    // The difference between the clocks may be read again in between; a deviation of a millisecond would mean that a wrong clock was used.
    sound = sound && std::abs(kernel.start - first - static_cast<std::int64_t>(i * 1'000)) < 1'000'000;
    sound = sound && kernel.start - decoded.call_by_correlation.at(correlation) == 200;
  }
  CHECK(sound);
  CHECK(unfinished == facts::kUnfinished);
  const std::int64_t begin = std::int64_t{before.tv_sec} * 1'000'000'000 + before.tv_nsec;
  CHECK(first > begin);
  CHECK(first < begin + 60'000'000'000);  // CLOCK_MONOTONIC, not CLOCK_REALTIME
  CHECK(decoded.call_starts.size() == std::min(facts::kThreads, static_cast<std::uint32_t>(multiples(count, 1'000))));

  const channel::AgentStatus& status = process.memory.header().status;
  CHECK(status.phase == static_cast<std::uint32_t>(channel::AgentPhase::kDone));
  CHECK(status.cupti_produced == 2 * count + facts::kUnfinished + facts::kInvalid + decoded.copied_bytes.size() + decoded.sets + decoded.waits);
  CHECK(status.cupti_invalid == facts::kInvalid);
  CHECK(status.cupti_dropped == 0);
  CHECK(static_cast<std::uint32_t>(status.unread_buffers) == 0);
}

TEST_CASE("devices, contexts and streams are described") {
  TestHost host;
  REQUIRE(host.run({kProgram, "1"}, kMock) == 0);
  const proto::Resources resources = decode(*host.processes[0]).resources;
  REQUIRE(resources.devices_size() == 1);
  const proto::Device& device = resources.devices(0);
  CHECK(device.name() == "Mock GPU");
  CHECK(device.memory_bytes() == std::uint64_t{141} << 30);
  CHECK(device.memory_bandwidth() == 4'800'000'000'000);
  CHECK(device.multiprocessor_count() == 132);
  CHECK(device.compute_major() == 9);
  CHECK(device.uuid() == std::string("u") + std::string(15, '\0'));
  REQUIRE(resources.contexts_size() == 1);
  CHECK(resources.contexts(0).null_stream() == 7);
  REQUIRE(resources.streams_size() == static_cast<int>(facts::kStreams));
  CHECK(resources.streams(0).kind() == proto::STREAM_NULL);
  CHECK(resources.streams(2).priority() == -2);
}

TEST_CASE("a CUPTI that records says so, and which one it is") {
  TestHost host;
  REQUIRE(host.run({kProgram, "1"}, kMock) == 0);
  const auto told = diagnostics(*host.processes[0]);
  REQUIRE(told.size() == 1);
  CHECK(told[0].record.category == proto::COMPONENT_CUPTI);
  CHECK(told[0].record.color == proto::STATE_RECORDING);
  CHECK(told[0].text == "GPU activity is recorded with CUPTI 13.0.");
}

TEST_CASE("where CUPTI can't record, the user is told why, nothing of it is touched, and the program runs on") {
  struct Case {
    std::string variable;
    std::string value;
    proto::ComponentState state;
    std::string says;
  };
  const auto expected = GENERATE(values<Case>({{"MOCK_CUPTI_SUBSCRIBE", "39", proto::STATE_OWNED_BY_OTHER, "Another profiler"},
                                               {"MOCK_CUPTI_SUBSCRIBE", "999", proto::STATE_NO_DRIVER, "no NVIDIA driver answers"},
                                               {"MOCK_CUPTI_SUBSCRIBE", "15", proto::STATE_VERSION_MISMATCH, "does not fit the driver"},
                                               {"MOCK_CUPTI_SUBSCRIBE", "35", proto::STATE_NO_PERMISSION, "does not let this user"},
                                               {"MOCK_CUPTI_SUBSCRIBE", "7", proto::STATE_FAILED, "answered 7"},
                                               {"MOCK_CUPTI_VERSION", "140000", proto::STATE_VERSION_MISMATCH, "140000"},
                                               {"MOCK_CUPTI_VERSION", "18", proto::STATE_VERSION_MISMATCH, "18"},
                                               {"LANESCOPE_CUPTI_LIBRARY", "/nowhere/libcupti.so", proto::STATE_NO_LIBRARY, "LANESCOPE_CUPTI_LIBRARY"},
                                               {"LANESCOPE_CUPTI_LIBRARY", "", proto::STATE_NO_DRIVER, "no NVIDIA driver"}}));
  CAPTURE(expected.variable, expected.value);
  TestHost host;
  REQUIRE(host.run({kProgram}, mock_with(expected.variable, expected.value)) == 0);
  REQUIRE(host.processes.size() == 1);
  const auto told = diagnostics(*host.processes[0]);
  REQUIRE(told.size() == 1);
  CHECK(told[0].record.color == static_cast<std::uint32_t>(expected.state));
  CHECK(told[0].record.payload_type == proto::SEVERITY_ERROR);
  CHECK_THAT(told[0].text, contains_text(expected.says));
  CHECK(host.processes[0]->frames.empty());
}

TEST_CASE("what CUPTI refuses after it was subscribed to is said, and all that was asked of it is taken back") {
  const std::string what = GENERATE("callbacks", "buffers", "resources", "kernels");
  CAPTURE(what);
  TestHost host;
  int output[2];
  REQUIRE(pipe(output) == 0);
  host.standard_output = output[1];
  REQUIRE(host.run({kProgram, "10", "asked"}, mock_with("MOCK_CUPTI_REFUSES", what)) == 0);
  const auto told = diagnostics(*host.processes[0]);
  REQUIRE(told.size() == 1);
  CHECK(told[0].record.color == proto::STATE_FAILED);
  CHECK(told[0].record.payload_type == proto::SEVERITY_ERROR);
  CHECK(told[0].text == "GPU activity is not recorded: CUPTI 13.0 answered 7 (MOCK_RESULT).");
  CHECK(decode(*host.processes[0]).kernels.empty());
  char text[32] = {};
  REQUIRE(read(output[0], text, sizeof(text) - 1) > 0);
  CHECK(std::string(text) == "asked 0\n");
  close(output[0]);
  close(output[1]);
}

TEST_CASE("a part that CUPTI refuses is said, and the rest is recorded") {
  TestHost host;
  host.configure = [](channel::Settings& settings) {
    settings.recording = 1;
    settings.trace_cuda = 1;
    settings.cuda_extras = channel::kMemoryUsage;
  };
  REQUIRE(host.run({kProgram, "100"}, mock_with("MOCK_CUPTI_REFUSES", "memory")) == 0);
  const auto told = diagnostics(*host.processes[0]);
  REQUIRE(told.size() == 2);
  CHECK(told[0].record.payload_type == proto::SEVERITY_WARNING);
  CHECK(told[0].text == "Memory usage is not recorded: CUPTI answered 7 (MOCK_RESULT).");
  CHECK(decode(*host.processes[0]).kernels.size() == 100 + facts::kUnfinished);
}

TEST_CASE("a CUPTI that faults when it is asked to begin costs the GPU part, not the program") {
  const auto [when, says] = GENERATE(
      values<std::pair<std::string, std::string>>({{"version", "faulted at the first question"}, {"subscribe", "faulted when it was asked to begin"}}));
  CAPTURE(when);
  TestHost host;
  REQUIRE(host.run({kProgram, "100"}, mock_with("MOCK_CUPTI_FAULTS", when)) == 0);
  const auto told = diagnostics(*host.processes[0]);
  REQUIRE(told.size() == 1);
  CHECK(told[0].record.color == proto::STATE_FAILED);
  CHECK_THAT(told[0].text, contains_text(says));
}

namespace {

std::vector<char> bytes_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void write_file(const std::filesystem::path& path, std::span<const char> bytes) {
  std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

void check_is_passed_over(const std::string& library) {
  TestHost host;
  REQUIRE(host.run({kProgram}, mock_with("LANESCOPE_CUPTI_LIBRARY", library)) == 0);
  const auto told = diagnostics(*host.processes[0]);
  REQUIRE(told.size() == 1);
  CHECK(told[0].record.color == proto::STATE_NO_LIBRARY);
  CHECK_THAT(told[0].text, contains_text(library + " is damaged or was cut short"));
}

}  // namespace

TEST_CASE("a libcupti that was cut short is seen before it is loaded") {
  const TemporaryFolder folder;
  const std::vector<char> whole = bytes_of(LANESCOPE_MOCK_CUPTI);
  const std::string path = (folder.path() / "libcupti.so").string();
  std::vector<std::size_t> lengths{0, 1, 63, 64, 100, whole.size() - 1};
  for (std::size_t part = 1; part < 16; ++part) lengths.push_back(whole.size() * part / 16);
  for (const std::size_t length : lengths) {
    CAPTURE(length);
    write_file(path, std::span(whole).first(length));
    check_is_passed_over(path);
  }
}

TEST_CASE("a libcupti whose headers were overwritten is seen before it is loaded") {
  const TemporaryFolder folder;
  const std::vector<char> whole = bytes_of(LANESCOPE_MOCK_CUPTI);
  const std::string path = (folder.path() / "libcupti.so").string();
  ElfW(Ehdr) header;
  std::memcpy(&header, whole.data(), sizeof(header));
  std::vector<ElfW(Phdr)> segments(header.e_phnum);
  std::memcpy(segments.data(), whole.data() + header.e_phoff, segments.size() * sizeof(ElfW(Phdr)));
  const auto dynamic = std::find_if(segments.begin(), segments.end(), [](const auto& each) { return each.p_type == PT_DYNAMIC; });
  const auto write_with = [&](std::size_t place, std::size_t bytes, char value) {
    std::vector<char> damaged = whole;
    std::fill_n(damaged.begin() + static_cast<std::ptrdiff_t>(place), bytes, value);
    write_file(path, damaged);
    CAPTURE(place, bytes);
    check_is_passed_over(path);
  };
  write_with(0, 4, '\0');                                                  // of the type of file
  write_with(offsetof(ElfW(Ehdr), e_machine), 2, '\x7f');                  // of another processor
  write_with(header.e_phoff, header.e_phnum * sizeof(ElfW(Phdr)), '\0');   // no segments
  write_with(header.e_phoff + offsetof(ElfW(Phdr), p_filesz), 4, '\x7f');  // a segment beyond the end
  write_with(dynamic->p_offset, dynamic->p_filesz, '\0');                  // nothing for the loader
  for (std::size_t i = 0; i < dynamic->p_filesz / sizeof(ElfW(Dyn)); ++i) {
    ElfW(Dyn) entry;
    std::memcpy(&entry, whole.data() + dynamic->p_offset + i * sizeof(entry), sizeof(entry));
    for (const ElfW(Sxword) tag : {DT_STRTAB, DT_SYMTAB, DT_RELA, DT_JMPREL, DT_INIT_ARRAY, DT_GNU_HASH, DT_VERNEED})
      if (entry.d_tag == tag) write_with(dynamic->p_offset + i * sizeof(entry) + sizeof(entry.d_tag), 5, '\x7f');  // outside of all segments
  }
}

TEST_CASE("a libcupti that is found by its name is loaded from the first folder where it is whole") {
  const TemporaryFolder damaged;
  const TemporaryFolder sound;
  const std::vector<char> whole = bytes_of(LANESCOPE_MOCK_CUPTI);
  constexpr const char* kName = "libcupti-by-name.so";
  write_file(damaged.path() / kName, std::span(whole).first(whole.size() / 2));
  auto environment = mock_with("LANESCOPE_CUPTI_LIBRARY", kName);
  environment["LD_LIBRARY_PATH"] = damaged.path().string();
  TestHost refused;
  REQUIRE(refused.run({kProgram}, environment) == 0);
  REQUIRE(diagnostics(*refused.processes[0]).size() == 1);
  CHECK_THAT(diagnostics(*refused.processes[0])[0].text, contains_text((damaged.path() / kName).string() + " is damaged"));

  write_file(sound.path() / kName, whole);
  environment["LD_LIBRARY_PATH"] = damaged.path().string() + ":" + sound.path().string();
  TestHost host;
  REQUIRE(host.run({kProgram}, environment) == 0);
  REQUIRE(diagnostics(*host.processes[0]).size() == 1);
  CHECK(diagnostics(*host.processes[0])[0].record.color == proto::STATE_RECORDING);
}

TEST_CASE("NVIDIA's own libcupti on a machine without a driver is told as such") {
  if (dlopen("libcuda.so.1", RTLD_LAZY) != nullptr) return;  // this machine has the real library
  std::string library;
  for (const char* path : {"/usr/local/cuda/lib/libcupti.so.13", "/usr/local/cuda/extras/CUPTI/lib64/libcupti.so.13"})
    if (library.empty() && std::filesystem::exists(path)) library = path;
  if (library.empty()) return;
  TestHost host;
  REQUIRE(host.run({kProgram}, mock_with("LANESCOPE_CUPTI_LIBRARY", library)) == 0);
  const auto told = diagnostics(*host.processes[0]);
  REQUIRE(told.size() == 1);
  CHECK(told[0].record.color == proto::STATE_NO_DRIVER);
  CHECK(host.processes[0]->frames.empty());
}

TEST_CASE("the records of CUDA 12 are read, too") {
  TestHost host;
  REQUIRE(host.run({kProgram, "100"}, mock_with("MOCK_CUPTI_VERSION", GENERATE(as<std::string>(), "19", "28", "130100"))) == 0);
  CHECK(decode(*host.processes[0]).kernels.size() == 100 + facts::kUnfinished);
}

TEST_CASE("nothing is recorded until the host says so, and everything is handed over when it asks") {
  int to_program[2];
  REQUIRE(pipe(to_program) == 0);
  REQUIRE(dup2(to_program[0], STDIN_FILENO) == STDIN_FILENO);
  TestHost host;
  bool asked = false;
  host.on_serve = [&] {
    if (host.processes.empty()) return;
    channel::SharedHeader& header = host.processes[0]->memory.header();
    if (header.status.cupti_produced >= 2'000 && !asked) {
      header.settings.recording = 0;
      header.settings.stop_requests = 1;
      asked = true;
    }
    // It ends only after it has answered: what is there now was sent because the host asked.
    if (header.status.stop_answers == 1 && header.status.phase == static_cast<std::uint32_t>(channel::AgentPhase::kDone))
      REQUIRE(write(to_program[1], "x", 1) == 1);
  };
  REQUIRE(host.run({kProgram, "1000", "hang"}, kMock) == 0);
  CHECK(asked);
  CHECK(decode(*host.processes[0]).kernels.size() == 1'000 + facts::kUnfinished);

  TestHost silent;
  silent.configure = [](channel::Settings& settings) { settings.trace_cuda = 1; };
  REQUIRE(silent.run({kProgram, "1000"}, kMock) == 0);
  CHECK(decode(*silent.processes[0]).call_by_correlation.empty());
}

TEST_CASE("the deep preset records waits, too") {
  TestHost host;
  host.configure = [](channel::Settings& settings) {
    settings.recording = 1;
    settings.trace_cuda = 1;
    settings.preset = 2;  // proto::PRESET_DEEP
  };
  constexpr std::uint64_t count = 1'000;
  REQUIRE(host.run({kProgram, std::to_string(count)}, kMock) == 0);
  CHECK(decode(*host.processes[0]).waits == multiples(count, facts::kWaitEvery));
}

TEST_CASE("records of a context that ends are asked for before") {
  TestHost host;
  REQUIRE(host.run({kProgram, "100", "reset"}, kMock) == 0);
  CHECK(decode(*host.processes[0]).kernels.size() == 100);
}

TEST_CASE("allocations, faults and CUDA events are recorded where they are asked for") {
  TestHost host;
  host.configure = [](channel::Settings& settings) {
    settings.recording = 1;
    settings.trace_cuda = 1;
    settings.cuda_extras = channel::kMemoryUsage | channel::kCpuPageFaults | channel::kGpuPageFaults | channel::kCudaEvents;
  };
  REQUIRE(host.run({kProgram, "0", "memory"}, kMock) == 0);
  const Decoded decoded = decode(*host.processes[0]);
  const auto queue = [&](std::uint32_t id) { return decoded.queues.at(id); };

  REQUIRE(decoded.memory_usage.size() == 1);
  const proto::MemoryUsage& usage = decoded.memory_usage[0];
  std::int64_t address = 0;
  std::vector<std::uint64_t> addresses;
  for (const auto delta : usage.address_delta()) addresses.push_back(static_cast<std::uint64_t>(address += delta));
  CHECK(addresses ==
        std::vector<std::uint64_t>{facts::kAddress, facts::kAddress + facts::kMemory, facts::kAddress, facts::kPool, facts::kAddress + 2 * facts::kMemory});
  CHECK(std::vector<std::uint32_t>(usage.operation().begin(), usage.operation().end()) ==
        std::vector<std::uint32_t>{proto::MEMORY_ALLOCATION, proto::MEMORY_ALLOCATION, proto::MEMORY_RELEASE, proto::MEMORY_POOL_CREATION,
                                   proto::MEMORY_ALLOCATION});
  CHECK(usage.bytes(1) == facts::kMemory);
  CHECK(usage.memory_kind(0) == proto::MEMORY_DEVICE);
  CHECK(queue(usage.queue(0)).stream() == 0);
  CHECK(queue(usage.queue(4)).stream() == facts::kFirstStream);
  CHECK(usage.pool_address(0) == 0);
  CHECK(usage.pool_address(4) == facts::kPool);
  CHECK(usage.pool_bytes(4) == facts::kPoolSize);
  CHECK(usage.pool_bytes_in_use(4) == facts::kPoolMemory);
  CHECK(usage.correlation_delta(0) == 77);

  REQUIRE(decoded.migrations.size() == 1);
  CHECK(decoded.migrations[0].bytes(0) == 64 << 10);
  CHECK(decoded.migrations[0].virtual_address(0) == facts::kManaged);
  CHECK(decoded.migrations[0].migration_cause(0) == 2);
  CHECK(decoded.migrations[0].duration(0) == 100);
  CHECK(decoded.copy_shapes.at(decoded.migrations[0].shape(0)).kind() == proto::COPY_UNIFIED_HOST_TO_DEVICE);
  CHECK(queue(decoded.migrations[0].queue(0)).context() == facts::kContext);
  CHECK(queue(decoded.migrations[0].queue(0)).stream() == 7);  // the context's default stream

  REQUIRE(decoded.page_faults.size() == 1);
  const proto::PageFaults& faults = decoded.page_faults[0];
  REQUIRE(faults.count_size() == 2);
  CHECK(faults.device(0) == 1 + facts::kDevice);
  CHECK(faults.count(0) == 2);
  CHECK(faults.access(0) == 2);
  CHECK(faults.duration(0) == 100);
  CHECK(faults.device(1) == 0);
  CHECK(faults.count(1) == 1);
  CHECK(faults.duration(1) == 0);
  CHECK(decoded.strings.at(faults.function(1)) == "mock_cupti_memory");
  CHECK_THAT(decoded.strings.at(faults.module(1)), contains_text("mock_cupti"));

  REQUIRE(decoded.cuda_events.size() == 1);
  CHECK(decoded.cuda_events[0].event(0) == facts::kEvent);
  CHECK(decoded.cuda_events[0].record(0) == facts::kEventRecord);
  CHECK(queue(decoded.cuda_events[0].queue(0)).stream() == facts::kFirstStream);
  REQUIRE(decoded.event_waits.size() == 1);
  CHECK(decoded.event_waits[0].type(0) == 2);
  CHECK(decoded.event_waits[0].event_record(0) == facts::kEventRecord);
  CHECK(queue(decoded.event_waits[0].queue(0)).stream() == facts::kFirstStream + 1);
}

TEST_CASE("of unified memory, what was asked for alone is recorded") {
  TestHost host;
  host.configure = [](channel::Settings& settings) {
    settings.recording = 1;
    settings.trace_cuda = 1;
    settings.cuda_extras = channel::kCpuPageFaults;
  };
  REQUIRE(host.run({kProgram, "0", "memory"}, kMock) == 0);
  const Decoded decoded = decode(*host.processes[0]);
  REQUIRE(decoded.page_faults.size() == 1);
  CHECK(decoded.page_faults[0].device_size() == 0);  // only the CPU
  CHECK(decoded.migrations.size() == 1);
  CHECK(decoded.memory_usage.empty());
  CHECK(decoded.cuda_events.empty());
  CHECK(decoded.event_waits.empty());
}

TEST_CASE("migrations without the page faults that caused them are told as a loss") {
  const auto losses = [](std::uint32_t asked_for, const std::map<std::string, std::string>& environment) {
    TestHost host;
    host.configure = [=](channel::Settings& settings) {
      settings.recording = 1;
      settings.trace_cuda = 1;
      settings.cuda_extras = asked_for;
    };
    REQUIRE(host.run({kProgram, "0", "memory"}, environment) == 0);
    std::vector<std::string> told;
    for (const ReadRecord& record : diagnostics(*host.processes[0]))
      if (record.text.find("unified memory") != std::string::npos) told.push_back(record.text);
    return told;
  };
  const auto lost = mock_with("MOCK_CUPTI_LOSES", "faults of the GPU");
  const std::vector<std::string> told = losses(channel::kCpuPageFaults | channel::kGpuPageFaults, lost);
  REQUIRE(told.size() == 1);
  CHECK_THAT(told[0], contains_text("Records of unified memory are missing") && contains_text(" 1 migrations "));
  CHECK(losses(channel::kCpuPageFaults | channel::kGpuPageFaults, kMock).empty());
  CHECK(losses(channel::kCpuPageFaults, lost).empty());  // nobody asked for faults of the GPU
}

TEST_CASE("a host that reads nothing costs records, which are counted, and never the program") {
  TestHost host;
  host.reads = false;
  constexpr std::uint64_t count = 6'000'000;  // their frames do not fit into the frame ring
  REQUIRE(host.run({kProgram, std::to_string(count)}, kMock) == 0);
  HostedProcess& process = *host.processes[0];
  process.read();
  const Decoded decoded = decode(process);
  const channel::AgentStatus& status = process.memory.header().status;
  const std::uint64_t arrived = decoded.kernels.size() + decoded.call_by_correlation.size() + decoded.copied_bytes.size() + decoded.sets;
  const std::uint64_t made = 2 * count + facts::kInvalid + facts::kUnfinished + multiples(count, facts::kCopyEvery) + multiples(count, facts::kSetEvery);
  CHECK(arrived + status.cupti_invalid + status.cupti_dropped == made);
  CHECK(arrived < made);
}
