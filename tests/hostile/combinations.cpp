// Hostile files: values that no program has, in all kinds of chunks; and very many related objects.
#include <array>

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include "chunks.h"
#include "kinds.h"
#include "lanescope/kernel_metrics.pb.h"

namespace lanescope::test {
namespace {

constexpr std::array<std::uint64_t, 10> kExtremes{0, 1, ~0ull, ~0ull >> 1, 1ull << 63, 1ull << 62, ~0u, 1ull << 31, 1ull << 40, (1ull << 62) + 1};

// Fills every column of a message of events with `rows` extreme values, in turn.
void fill_with_extremes(google::protobuf::Message& events, int rows, std::size_t first) {
  const auto& fields = *events.GetReflection();
  for (int i = 0; i < events.GetDescriptor()->field_count(); ++i) {
    const google::protobuf::FieldDescriptor& field = *events.GetDescriptor()->field(i);
    for (int row = 0; row < rows && field.is_repeated(); ++row) {
      const std::uint64_t value = kExtremes[(first + static_cast<std::size_t>(row) * 7 + static_cast<std::size_t>(i)) % kExtremes.size()];
      switch (field.cpp_type()) {
        case google::protobuf::FieldDescriptor::CPPTYPE_INT64:
          fields.AddInt64(&events, &field, static_cast<std::int64_t>(value));
          break;
        case google::protobuf::FieldDescriptor::CPPTYPE_UINT64:
          fields.AddUInt64(&events, &field, value);
          break;
        case google::protobuf::FieldDescriptor::CPPTYPE_UINT32:
          fields.AddUInt32(&events, &field, static_cast<std::uint32_t>(value));
          break;
        default:
          break;
      }
    }
  }
}

void bring_near(google::protobuf::Message& events) {
  const google::protobuf::Reflection& fields = *events.GetReflection();
  for (const char* name : {"start_delta", "time_delta", "duration"}) {
    const google::protobuf::FieldDescriptor* const times = events.GetDescriptor()->FindFieldByName(name);
    if (times == nullptr || !times->is_repeated()) continue;
    const bool is_signed = times->cpp_type() == google::protobuf::FieldDescriptor::CPPTYPE_INT64;
    for (int row = 0; row < fields.FieldSize(events, times); ++row)
      is_signed ? fields.SetRepeatedInt64(&events, times, row, 3) : fields.SetRepeatedUInt64(&events, times, row, 2);
  }
}

// Chunks of all kinds in turn. Times stay near, so that the events are accepted, or get as far apart as possible.
template <bool far>
void extreme_values(const Path& path, std::size_t bytes) {
  FileOfFrames file(path, bytes);
  constexpr int kExtremeRows = 1'000;
  const auto& kinds = *proto::EventChunk::descriptor()->FindOneofByName("events");
  for (std::size_t number = 0; !file.is_full(); ++number) {
    proto::EventChunk chunk = chunk_at(static_cast<std::int64_t>(number) * kChunkSpan);
    const auto* kind = kinds.field(static_cast<int>(number) % kinds.field_count());
    google::protobuf::Message& events = *chunk.GetReflection()->MutableMessage(&chunk, kind);
    fill_with_extremes(events, kExtremeRows, number);
    if (!far) bring_near(events);
    file.add(proto::FRAME_EVENTS, chunk, kProcess, static_cast<int>(number % 3), kExtremeRows);
  }
}

// Threads that each have a range and launch a kernel on a separate device.
void threads_that_launch_on_many_devices(const Path& path, std::size_t bytes) {
  FileOfFrames file(path, bytes);
  for (std::uint32_t thread = 1; !file.is_full(); ++thread) {
    const std::int64_t time = 40'000 * std::int64_t{thread};
    proto::EventChunk ranges = chunk_at(time);
    ranges_in(ranges, proto::NVTX_PUSH_POP, 1).set_thread(thread);
    ranges.mutable_nvtx_ranges()->set_duration(0, 1'000);
    proto::EventChunk calls = chunk_at(time + 10);
    calls_in(calls, 1).set_thread(thread);
    calls.mutable_api_calls()->set_correlation_delta(0, thread);
    proto::EventChunk kernels = chunk_at(time + 100);
    kernels.set_first_queue(thread);
    kernels.add_queues()->set_device(thread);
    kernels_in(kernels, 1).set_correlation_delta(0, thread);
    kernels.mutable_kernels()->set_queue(0, thread);
    for (const proto::EventChunk* chunk : {&ranges, &calls, &kernels}) file.add(proto::FRAME_EVENTS, *chunk, kProcess, 0, 1);
  }
}

// Counters of many GPUs, or of one, each in a separate group.
template <bool of_many_gpus>
void counters_of_many_groups(const Path& path, std::size_t bytes) {
  FileOfFrames file(path, bytes);
  constexpr std::uint32_t kCounters = 4'000;
  for (std::uint32_t source = 0; !file.is_full(); ++source) {
    proto::Resources resources;
    proto::EventChunk chunk = chunk_at(source);
    proto::CounterSamples& samples = *chunk.mutable_counter_samples();
    samples.add_time_delta(0);
    samples.set_last_duration(1);
    for (std::uint32_t i = 1; i <= kCounters; ++i) {
      const std::uint32_t number = source * kCounters + i;
      if (of_many_gpus) resources.add_devices()->set_id(number);
      proto::Counter& counter = *resources.add_counters();
      counter.set_id(i);
      counter.set_name("c");
      counter.set_gpu(of_many_gpus ? 1 + number : 1);
      counter.set_group(std::to_string(number));
      samples.add_counter(i);
      samples.add_columns()->add_value_delta(1);
    }
    file.add(proto::FRAME_RESOURCES, resources, kProcess, static_cast<int>(source % 256));
    file.add(proto::FRAME_EVENTS, chunk, kProcess, static_cast<int>(source % 256));
  }
}

// Processes that each run one kernel of one collective, and copy to another device.
void collectives_of_many_ranks(const Path& path, std::size_t bytes) {
  FileOfFrames file(path, bytes);
  for (std::uint32_t process = 2; !file.is_full(); ++process) {
    proto::EventChunk kernels = chunk_at(process % 1'000);
    kernels.set_first_string(1);
    kernels.add_strings("ncclDevKernel_AllReduce_Sum_f32_RING_LL");
    kernels_in(kernels, 2).set_name(0, 1);
    kernels.mutable_kernels()->set_duration(0, 100'000 + process);
    kernels.mutable_kernels()->set_start_delta(1, 200'000);
    proto::EventChunk copies = chunk_at(process);
    copies.set_first_copy_shape(1);
    proto::CopyShape& shape = *copies.add_copy_shapes();
    shape.set_kind(static_cast<proto::CopyKind>(10));
    shape.set_source_device(process);
    shape.set_destination_device(process + 1);
    proto::Copies& copy = *copies.mutable_copies();
    copy.add_start_delta(1);
    copy.add_duration(1'000);
    copy.add_shape(1);
    copy.add_bytes(1 << 20);
    copy.add_queue(0);
    copy.add_correlation_delta(0);
    file.add(proto::FRAME_EVENTS, kernels, process, 0, 2);
    file.add(proto::FRAME_EVENTS, copies, process, 0, 1);
  }
}

// Ranks that each run very many collectives with all others; one rank comes late.
void many_collectives_of_ranks(const Path& path, std::size_t bytes) {
  FileOfFrames file(path, bytes);
  constexpr std::uint32_t kRanks = 64;
  constexpr std::size_t kCollectives = 1'000;  // in a chunk
  constexpr std::int64_t kApart = 400'000;
  for (std::int64_t time = 0; !file.is_full(); time += kApart * static_cast<std::int64_t>(kCollectives))
    for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
      proto::EventChunk chunk = chunk_at(time + rank);
      chunk.set_first_string(1);
      chunk.add_strings("ncclDevKernel_AllReduce_Sum_f32_RING_LL");
      proto::Kernels& kernels = kernels_in(chunk, kCollectives);
      repeat(*kernels.mutable_start_delta(), kApart, kCollectives);
      repeat(*kernels.mutable_duration(), std::uint64_t{200'000 - rank}, kCollectives);
      repeat(*kernels.mutable_name(), 1u, kCollectives);
      file.add(proto::FRAME_EVENTS, chunk, 2 + rank, 0, kCollectives);
    }
}

// Ranks that meet in pairs, each pair once, as in a tournament, and one of the two waits: a reader searches all that both did before for the rank that it met.
void ranks_that_meet_once(const Path& path, std::size_t bytes) {
  FileOfFrames file(path, bytes);
  constexpr std::uint32_t kRanks = 1'000, kRounds = kRanks - 1;
  constexpr std::int64_t kApart = 400'000, kRound = kApart * (kRanks / 2 + 1);
  for (std::int64_t time = 0; !file.is_full(); time += kRound * kRounds)
    for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
      proto::EventChunk chunk = chunk_at(time);
      chunk.set_first_string(1);
      chunk.add_strings("ncclDevKernel_AllReduce_Sum_f32_RING_LL");
      proto::Kernels& kernels = kernels_in(chunk, kRounds);
      repeat(*kernels.mutable_name(), 1u, kRounds);
      std::int64_t before = 0;
      for (std::uint32_t round = 0; round < kRounds; ++round) {
        // The last rank keeps its place; the others rotate, and two ranks meet if their places add up to the round.
        const std::uint32_t other = rank == kRounds ? (round * (kRanks / 2)) % kRounds : (round + kRounds - rank) % kRounds;
        const std::uint32_t against = rank < kRounds && other == rank ? kRounds : other;
        const std::int64_t end = round * kRound + kApart * (1 + std::min(rank, against)), length = rank < against ? 200'000 : 100'000;
        kernels.set_start_delta(static_cast<int>(round), end - length - before);
        kernels.set_duration(static_cast<int>(round), static_cast<std::uint64_t>(length));
        before = end - length;
      }
      file.add(proto::FRAME_EVENTS, chunk, 2 + rank, 0, kRounds);
    }
}

// Ranges that each have a different payload, numbers or deep JSON.
void ranges_of_own_payloads(const Path& path, std::size_t bytes) {
  FileOfFrames file(path, bytes);
  std::uint64_t next = 0;
  fill_with_chunks(file, kChunkSpan, [&](proto::EventChunk& chunk) {
    proto::NvtxRanges& ranges = ranges_in(chunk, proto::NVTX_PUSH_POP);
    repeat(*ranges.mutable_payload_type(), 2u);
    for (std::size_t i = 0; i < kRows; ++i) ranges.add_payload(next++);
  });
}
void ranges_of_deep_payloads(const Path& path, std::size_t bytes) {
  FileOfFrames file(path, bytes);
  std::uint32_t next = 1;
  fill_with_chunks(file, kChunkSpan, [&](proto::EventChunk& chunk) {
    constexpr std::size_t kPayloads = 100;
    chunk.set_first_string(next);
    proto::NvtxRanges& ranges = ranges_in(chunk, proto::NVTX_PUSH_POP, kPayloads);
    for (std::size_t i = 0; i < kPayloads; ++i) {
      std::string json;
      for (int depth = 0; depth < 8'000; ++depth) json += "{\"a\":";
      chunk.add_strings(json + std::to_string(next));
      ranges.add_payload_json(next++);
    }
  });
}

// Uses of files, each of a different path; ranges of XLA modules, each different; and holders of Python's lock, on many threads.
void ranges_of_special_domains(const Path& path, std::size_t bytes) {
  FileOfFrames file(path, bytes);
  constexpr std::uint32_t kFileAccess = 0x7fff0003;
  proto::Resources resources;
  resources.add_nvtx_domains()->set_id(7);
  resources.mutable_nvtx_domains(0)->set_name("Python GIL");
  file.add(proto::FRAME_RESOURCES, resources);
  std::uint32_t next = 1;
  for (std::int64_t time = 0; !file.is_full(); time += 200'000) {
    constexpr std::size_t kNames = 8'192;
    for (const std::string prefix : {"/data/file", "XlaModule:#hlo_module=jit_step,program_id=", "step "}) {
      proto::EventChunk chunk = chunk_at(time);
      chunk.set_first_string(next);
      proto::NvtxRanges& ranges = ranges_in(chunk, proto::NVTX_PUSH_POP, kNames);
      ranges.clear_name();
      count_up(*ranges.mutable_name(), next, kNames);
      for (std::size_t i = 0; i < kNames; ++i) chunk.add_strings(prefix + std::to_string(next++));
      ranges.set_domain(prefix.front() == '/' ? kFileAccess : 0);
      ranges.set_thread(prefix.front() == '/' ? 5 : prefix.front() == 'X' ? 6 : 7);
      if (prefix.front() == '/')
        for (std::size_t i = 0; i < kNames; ++i) {
          ranges.add_category(1 + static_cast<std::uint32_t>(i % 5));
          ranges.add_payload_type(2);
          ranges.add_payload(i);
        }
      file.add(proto::FRAME_EVENTS, chunk, kProcess, 0, kNames);
    }
    proto::EventChunk locks = chunk_at(time);
    proto::NvtxRanges& held = ranges_in(locks, proto::NVTX_START_END, 1'000);
    held.set_domain(7);
    held.set_thread(next);
    file.add(proto::FRAME_EVENTS, locks, kProcess, 0, 1'000);
  }
}

// Very many iterations, and very many other ranges: a table of both would not fit into any memory.
void iterations_beside_distinct_ranges(const Path& path, std::size_t bytes) {
  FileOfFrames file(path, bytes);
  std::uint32_t next = 2;
  fill_with_chunks(file, kChunkSpan, [&](proto::EventChunk& chunk) {
    constexpr std::size_t kNames = kRows / 2;
    chunk.set_first_string(next == 2 ? 1 : next);
    if (next == 2) chunk.add_strings("step");
    proto::NvtxRanges& ranges = ranges_in(chunk, proto::NVTX_PUSH_POP);
    for (std::size_t i = 0; i < kNames; ++i) {
      ranges.set_name(static_cast<int>(2 * i), 1);
      ranges.set_name(static_cast<int>(2 * i + 1), next);
      chunk.add_strings("n" + std::to_string(next++));
    }
  });
}

// Only padding.
void padding(const Path& path, std::size_t bytes) {
  FileOfFrames file(path, bytes);
  file.fill_with(proto::FRAME_PADDING, std::string(60u << 20, '\0'));
}

// Texts that no terminal, page or table should show unchanged, in all places where a text may be.
void texts_of_control_characters(const Path& path, std::size_t bytes) {
  FileOfFrames file(path, bytes);
  std::string text = "\x1b]0;x\a\x1b[2J\r\n\t\x7f\xff\xfe\xc0\x80\xed\xa0\x80\xf4\x90\x80\x80\xe2\x80\xae<script>&\"'`$(x)=cmd|' /C calc'!A0";
  text += std::string(1, '\0') + "behind";
  for (std::uint32_t number = 1; !file.is_full(); ++number) {
    const std::string own = text + std::to_string(number);
    proto::Resources resources;
    resources.add_threads()->set_id(number);
    resources.mutable_threads(0)->set_name(own);
    resources.add_nvtx_domains()->set_id(number);
    resources.mutable_nvtx_domains(0)->set_name(own);
    resources.add_nvtx_categories()->set_id(number);
    resources.mutable_nvtx_categories(0)->set_name(own);
    resources.add_streams()->set_id(number);
    resources.mutable_streams(0)->set_name(own);
    resources.add_devices()->set_id(number % 50);
    resources.mutable_devices(0)->set_name(own);
    resources.add_counters()->set_id(number % 60'000 + 1);
    resources.mutable_counters(0)->set_name(own);
    resources.mutable_counters(0)->set_unit(own);
    resources.mutable_counters(0)->set_group(own);
    file.add(proto::FRAME_RESOURCES, resources);
    proto::EventChunk ranges = chunk_at(number);
    ranges.set_first_string(number);
    ranges.add_strings(own);
    ranges_in(ranges, proto::NVTX_PUSH_POP, 1).set_thread(number);
    ranges.mutable_nvtx_ranges()->set_name(0, number);
    ranges.mutable_nvtx_ranges()->set_domain(number);
    ranges.mutable_nvtx_ranges()->add_category(number);
    ranges.mutable_nvtx_ranges()->add_payload_json(number);
    file.add(proto::FRAME_EVENTS, ranges, kProcess, 0, 1);
    proto::EventChunk kernels = chunk_at(number);
    kernels_in(kernels, 1).set_name(0, number);
    file.add(proto::FRAME_EVENTS, kernels, kProcess, 0, 1);
    proto::Output output;
    output.set_data(own);
    file.add(proto::FRAME_OUTPUT, output);
    proto::Diagnostic diagnostic;
    diagnostic.set_text(own);
    diagnostic.set_severity(static_cast<proto::Severity>(number % 5));
    file.add(proto::FRAME_DIAGNOSTIC, diagnostic);
  }
}

}  // namespace

std::vector<HostileFile> combinations() {
  return {
      {"extreme_values", &extreme_values<false>},
      {"extreme_values_and_times", &extreme_values<true>},
      {"threads_that_launch_on_many_devices", &threads_that_launch_on_many_devices},
      {"counters_of_many_groups", &counters_of_many_groups<false>},
      {"counters_of_many_gpus", &counters_of_many_groups<true>},
      {"collectives_of_many_ranks", &collectives_of_many_ranks},
      {"many_collectives_of_ranks", &many_collectives_of_ranks},
      {"ranks_that_meet_once", &ranks_that_meet_once},
      {"ranges_of_own_payloads", &ranges_of_own_payloads},
      {"ranges_of_deep_payloads", &ranges_of_deep_payloads},
      {"ranges_of_special_domains", &ranges_of_special_domains},
      {"iterations_beside_distinct_ranges", &iterations_beside_distinct_ranges},
      {"padding", &padding},
      {"texts_of_control_characters", &texts_of_control_characters},
  };
}

}  // namespace lanescope::test
