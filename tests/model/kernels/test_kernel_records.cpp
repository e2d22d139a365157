// Code of GPUs and PC samples, from frames to the trace.
#include "model/trace/kernel_records.h"

#include <array>
#include <random>

#include "../../../model/trace/building/stall_series.h"
#include "model/kernels/instructions/pc_statistics.h"
#include "model/trace/load.h"
#include "recording.h"
#include "support/catch.h"
#include "support/paths.h"

using namespace lanescope;
using namespace lanescope::test;

namespace {

constexpr std::uint64_t kCrc = 0x1234;
constexpr Nanoseconds kMillisecond = 1'000'000;

proto::CodeObject code_part(std::uint64_t offset, const std::string& image, std::uint64_t size) {
  proto::CodeObject part;
  part.set_crc(kCrc);
  part.set_size(size);
  part.set_offset(offset);
  part.set_image(image);
  return part;
}

// At 0x40 of one function: 70 samples of long_scoreboard, 50 of them while nothing was issued; at 0x10: 30 samples of selected.
proto::PcSamples window(Nanoseconds begin) {
  proto::PcSamples samples;
  samples.set_begin(kEpoch + begin);
  samples.set_duration(100 * kMillisecond);
  samples.set_period(1 << 20);
  samples.set_first_function(1);
  auto* function = samples.add_functions();
  function->set_code_object(kCrc);
  function->set_index(7);
  function->set_name("_Z4axpyPfif");
  samples.set_first_reason(1);
  samples.add_reasons("smsp__pcsamp_warps_issue_stalled_long_scoreboard");
  samples.add_reasons("smsp__pcsamp_warps_issue_stalled_selected");
  for (const auto& [pc_delta, reason, count, not_issued] : {std::array<int, 4>{0x40, 1, 70, 50}, std::array<int, 4>{-0x30, 2, 30, 0}}) {
    samples.add_function(1);
    samples.add_pc_delta(pc_delta);
    samples.add_reason(static_cast<std::uint32_t>(reason));
    samples.add_samples(static_cast<std::uint32_t>(count));
    samples.add_not_issued(static_cast<std::uint32_t>(not_issued));
  }
  return samples;
}

}  // namespace

namespace {

// A window of 100 ms of samples at this time, for one of three kernels.
void add_window(TraceBuilder& builder, ProcessId process, int number, std::mt19937& random) {
  PcSampleWindow window;
  window.process = process;
  window.gpu = builder.gpu_of_device(process, 0);
  window.time = {number * 100 * kMillisecond, (number + 1) * 100 * kMillisecond};
  window.period = 1 << 20;
  for (int i = 0; i < 5; ++i) {
    const std::uint32_t kernel = random() % 3;
    GpuFunction function;
    function.process = process;
    function.code_object = kCrc;
    function.index = kernel + 1;
    function.name = builder.intern("kernel " + std::to_string(kernel));
    window.samples.push_back({builder.gpu_function(function), builder.stall_reason(kernel == 0 ? "long_scoreboard" : "barrier"), 16,
                              1 + static_cast<std::uint32_t>(random() % 50), 0});
  }
  builder.add(std::move(window));
}

void add_kernels(TraceBuilder& builder, ProcessId process, Nanoseconds from, Nanoseconds to, std::mt19937& random) {
  std::vector<Event> events;
  for (Nanoseconds t = from; t < to; t += 40 * kMillisecond)
    events.push_back({t, static_cast<Nanoseconds>(1 + random() % 30) * kMillisecond, builder.intern("kernel " + std::to_string(random() % 3)), 0, 0});
  builder.add({.kind = TrackKind::kKernels, .process = process, .gpu = builder.gpu_of_device(process, 0), .context = 1, .stream = 7}, std::move(events));
}

}  // namespace

TEST_CASE("rows of warp stalls are the same however often a recording was looked at, and looking again takes up what is new") {
  TraceBuilder growing;
  growing.process_of_instance(1);
  StallRows rows;
  std::uint64_t spread = 0;
  std::mt19937 random(7);
  constexpr int kWindows = 600;  // a minute
  for (int number = 0; number < kWindows; ++number) {
    add_window(growing, 0, number, random);
    // Records of kernels come up to two seconds late; at 40 s comes a kernel that has run for half a minute on another stream.
    if (number % 20 == 19) add_kernels(growing, 0, (number - 19) * 100 * kMillisecond, (number + 1) * 100 * kMillisecond, random);
    if (number == 400)
      growing.add({.kind = TrackKind::kKernels, .process = 0, .gpu = growing.gpu_of_device(0, 0), .context = 1, .stream = 8},
                  {{10'000 * kMillisecond, 30'000 * kMillisecond, growing.intern("kernel 1"), 0, 0}});
    if (number % 10 != 9) continue;
    const auto trace = growing.snapshot();
    if (number % 200 != 199) continue;
    // Rows that are updated only once.
    StallRows once;
    const std::vector<StallSeries> expected = once.update(*trace, std::numeric_limits<Nanoseconds>::min());
    CHECK(once.windows_spread() == static_cast<std::uint64_t>(number) + 1);
    REQUIRE(trace->counters().size() == expected.size());
    for (const StallSeries& series : expected) {
      const auto shown =
          std::find_if(trace->counters().begin(), trace->counters().end(), [&](const Counter& counter) { return counter.name == series.counter.name; });
      REQUIRE(shown != trace->counters().end());
      const CounterSeries& of_trace = trace->counter_series(static_cast<CounterId>(shown - trace->counters().begin()));
      REQUIRE(of_trace.size() == series.series.size());
      for (std::size_t i = 0; i < of_trace.size(); ++i) {
        REQUIRE(of_trace.sample(i).time == series.series.sample(i).time);
        REQUIRE(of_trace.sample(i).value == series.series.sample(i).value);
      }
    }
  }
  // The same windows without kernels, looked at each second as they come: each is spread again only while it is younger than ten seconds.
  TraceBuilder plain;
  plain.process_of_instance(1);
  for (int number = 0; number < kWindows; ++number) {
    add_window(plain, 0, number, random);
    if (number % 10 == 9) CHECK(rows.update(*plain.snapshot(), std::numeric_limits<Nanoseconds>::max()).size() == 2);
  }
  spread = rows.windows_spread();
  CHECK(spread <= std::uint64_t{kWindows} * 12);
  CHECK(spread < std::uint64_t{kWindows} * (kWindows / 10) / 2 / 2);  // spreading all of them each time would be twice this
}

TEST_CASE("PC samples are summed up by kernel and by instruction") {
  Recording recording;
  recording.add(proto::FRAME_PC_SAMPLES, 1, proto::SOURCE_AGENT, window(0));
  recording.add(proto::FRAME_PC_SAMPLES, 1, proto::SOURCE_AGENT, window(200 * kMillisecond));
  const auto trace = recording.trace();
  const auto kernels = kernels::sum_stalls(*trace, kernels::SumBy::kKernel);
  REQUIRE(kernels.size() == 1);
  CHECK(trace->name(kernels[0].kernel) == "axpy(float*, int, float)");
  CHECK(kernels[0].samples == 200);
  CHECK(kernels[0].not_issued == 100);
  REQUIRE(kernels[0].decisive() != nullptr);
  CHECK(kernels[0].decisive()->reason == "long_scoreboard");
  CHECK(kernels[0].decisive()->samples == 140);

  const auto instructions = kernels::sum_stalls(*trace, kernels::SumBy::kInstruction, TimeRange{0, 50 * kMillisecond});
  REQUIRE(instructions.size() == 2);
  CHECK(instructions[0].pc == 0x40);
  CHECK(instructions[0].samples == 70);
  CHECK(instructions[1].pc == 0x10);
  CHECK(instructions[1].decisive() == nullptr);
}

namespace {

// axpy runs from 10 to 40 ms and from 60 to 80 ms, another kernel in between; its samples are handed over from 100 to 200 ms.
std::shared_ptr<const Trace> handed_over_late() {
  Recording recording;
  proto::EventChunk chunk;
  chunk.set_base_time(kEpoch);
  chunk.set_first_string(1);
  chunk.add_strings("_Z4axpyPfif");
  chunk.add_strings("_Z5otherv");
  chunk.set_first_queue(1);
  auto* queue = chunk.add_queues();
  queue->set_context(1);
  queue->set_stream(7);
  auto* kernels = chunk.mutable_kernels();
  for (const auto& [delta, milliseconds, name] : {std::array<int, 3>{10, 30, 1}, std::array<int, 3>{30, 20, 2}, std::array<int, 3>{20, 20, 1}}) {
    kernels->add_start_delta(delta * kMillisecond);
    kernels->add_duration(static_cast<std::uint64_t>(milliseconds * kMillisecond));
    kernels->add_name(static_cast<std::uint32_t>(name));
    kernels->add_queue(1);
    kernels->add_correlation_delta(1);
    kernels->add_shape(0);
  }
  recording.add(proto::FRAME_EVENTS, 1, proto::SOURCE_AGENT, chunk);
  recording.add(proto::FRAME_PC_SAMPLES, 1, proto::SOURCE_AGENT, window(100 * kMillisecond));
  CHECK(recording.malformed() == 0);
  return recording.trace();
}

}  // namespace

TEST_CASE("samples lie where kernels of their function ran, however late they were handed over") {
  const auto trace = handed_over_late();
  const auto samples_in = [&](int begin, int end) {
    std::uint64_t samples = 0;
    for (const auto& sum : kernels::sum_stalls(*trace, kernels::SumBy::kKernel, TimeRange{begin * kMillisecond, end * kMillisecond})) samples += sum.samples;
    return samples;
  };
  // 100 samples in 50 ms.
  CHECK(samples_in(0, 300) == 100);
  CHECK(samples_in(60, 80) == 40);
  CHECK(samples_in(0, 20) == 20);
  CHECK(samples_in(40, 60) == 0);  // the other kernel
  CHECK(samples_in(100, 200) == 0);
  REQUIRE(trace->counters().size() == 2);
  const CounterSeries& waiting = trace->counter_series(0);
  CHECK(waiting.extent() == TimeRange{10 * kMillisecond, 80 * kMillisecond});
  for (const int time : {10, 39, 60, 79}) CHECK(waiting.at(time * kMillisecond)->value == 7'000);
  for (const int time : {41, 59}) CHECK_FALSE(waiting.at(time * kMillisecond).value_or(CounterSample()).has_value());
}

TEST_CASE("samples that CUPTI handed over after a time are found with it, where they may be of that time") {
  // Its kernels ran until 1.48 s, and the first samples came then.
  const auto trace = load_trace(test::data_file("transpositions.trace"));
  REQUIRE(trace);
  constexpr Nanoseconds kBegin = 1'427 * kMillisecond;
  const auto kernels = kernels::sum_stalls(**trace, kernels::SumBy::kKernel, TimeRange{kBegin, kBegin + 3 * kMillisecond});
  REQUIRE(kernels.size() == 1);  // the only one that ran at that time
  CHECK((*trace)->name(kernels[0].kernel).starts_with("transpose_by_columns"));
  CHECK(kernels::sum_stalls(**trace, kernels::SumBy::kKernel, TimeRange{0, 1'000 * kMillisecond}).empty());
}

TEST_CASE("where sampling had windows it is known how much of the time they were, whichever contexts they are of") {
  constexpr Nanoseconds kEvery = 1'000 * kMillisecond;
  Recording recording;
  for (const auto& [begin, context] : {std::pair(Nanoseconds{0}, 1u), std::pair(Nanoseconds{10 * kMillisecond}, 2u), std::pair(kEvery, 1u)}) {
    proto::PcSamples samples = window(begin);
    samples.set_context(context);
    samples.set_duration(30 * kMillisecond);
    samples.set_every(kEvery);
    recording.add(proto::FRAME_PC_SAMPLES, 1, proto::SOURCE_AGENT, samples);
  }
  const auto part = kernels::sampled_part(*recording.trace());
  REQUIRE(part);
  CHECK(part->windows == 2);
  CHECK(part->sampled == 70 * kMillisecond);
  CHECK(part->of == 2 * kEvery);
  const auto second = kernels::sampled_part(*recording.trace(), TimeRange{kEvery, 2 * kEvery});
  REQUIRE(second);
  CHECK(second->sampled == 30 * kMillisecond);
  CHECK(second->of == kEvery);

  Recording always;
  always.add(proto::FRAME_PC_SAMPLES, 1, proto::SOURCE_AGENT, window(0));
  CHECK_FALSE(kernels::sampled_part(*always.trace()));
}

TEST_CASE("a GPU has a counter of each reason's share of the samples, over time") {
  Recording recording;
  recording.add(proto::FRAME_PC_SAMPLES, 1, proto::SOURCE_AGENT, window(0));
  const auto trace = recording.trace();
  REQUIRE(trace->counters().size() == 2);
  CHECK(trace->counters()[0].name == "long_scoreboard");
  CHECK(trace->counters()[0].group == "Warp stalls");
  CHECK(trace->counters()[0].gpu == 0);
  const CounterSample sample = trace->counter_series(0).sample(0);
  CHECK(sample.time == 0);
  CHECK(sample.duration == 100 * kMillisecond);
  CHECK(sample.value == 7'000);  // hundredths of a percent
}

TEST_CASE("code comes in parts, and what does not fit to those before is left out") {
  Recording recording;
  recording.add(proto::FRAME_CODE_OBJECT, 1, proto::SOURCE_AGENT, code_part(0, "code ", 11));
  recording.add(proto::FRAME_CODE_OBJECT, 1, proto::SOURCE_AGENT, code_part(9, "of", 11));
  const auto earlier = recording.trace();
  recording.add(proto::FRAME_CODE_OBJECT, 1, proto::SOURCE_AGENT, code_part(5, "of GPU and more", 11));
  recording.add(proto::FRAME_CODE_OBJECT, 1, proto::SOURCE_AGENT, code_part(5, "of GPU", 11));
  const auto trace = recording.trace();
  const CodeObject* const code = trace->kernel_records().find_code(0, kCrc);
  REQUIRE(code != nullptr);
  CHECK(code->image == "code of GPU");
  CHECK(earlier->kernel_records().find_code(0, kCrc)->image == "code ");  // a trace never changes
  CHECK(!earlier->kernel_records().find_code(0, kCrc)->whole());
  CHECK(code->whole());
  CHECK(trace->kernel_records().find_code(0, kCrc + 1) == nullptr);
}

TEST_CASE("a part of code that lies within the others takes the place of what was there") {
  Recording recording;
  for (const auto& [offset, bytes] : {std::pair(0, "code .."), std::pair(7, " ..."), std::pair(5, "of"), std::pair(8, "GPU")})
    recording.add(proto::FRAME_CODE_OBJECT, 1, proto::SOURCE_AGENT, code_part(static_cast<std::uint64_t>(offset), bytes, 11));
  CHECK(recording.malformed() == 0);
  CHECK(recording.trace()->kernel_records().find_code(0, kCrc)->image == "code of GPU");
}

TEST_CASE("PC samples of functions that no frame named count as dropped, and columns that disagree are skipped") {
  Recording recording;
  proto::PcSamples unknown = window(0);
  unknown.set_function(0, 9);
  unknown.set_pc_delta(1, -0x1000);
  recording.add(proto::FRAME_PC_SAMPLES, 1, proto::SOURCE_AGENT, unknown);
  proto::PcSamples uneven = window(0);
  uneven.add_samples(1);
  recording.add(proto::FRAME_PC_SAMPLES, 1, proto::SOURCE_AGENT, uneven);
  const auto trace = recording.trace();
  REQUIRE(trace->kernel_records().windows.size() == 1);
  CHECK(trace->kernel_records().windows[0]->samples.empty());
  CHECK(trace->kernel_records().windows[0]->dropped == 100);
}

TEST_CASE("shares of very many windows are of longer times, and reasons that no hardware has count as dropped") {
  constexpr int kWindows = 40'000, kReasons = 200, kKept = 128;
  constexpr std::size_t kMostValues = 4'000'000;
  Recording recording;
  proto::PcSamples all = window(0);
  all.clear_reasons();
  for (int i = 0; i < kReasons; ++i) {
    all.add_reasons("reason " + std::to_string(i));
    all.add_function(1);
    all.add_pc_delta(0);
    all.add_reason(static_cast<std::uint32_t>(1 + i));
    all.add_samples(1);
    all.add_not_issued(0);
  }
  recording.add(proto::FRAME_PC_SAMPLES, 1, proto::SOURCE_AGENT, all);
  for (int i = 1; i < kWindows; ++i) {
    proto::PcSamples more = window(i * 100 * kMillisecond);
    more.clear_functions();
    more.clear_reasons();
    more.set_samples(0, static_cast<std::uint32_t>(70 + i / 40));  // shares that change over time
    recording.add(proto::FRAME_PC_SAMPLES, 1, proto::SOURCE_AGENT, more);
  }
  const auto trace = recording.trace();
  CHECK(trace->kernel_records().reasons.size() == kKept);
  CHECK(trace->kernel_records().windows.front()->dropped == kReasons - kKept);
  REQUIRE(trace->counters().size() == kKept);
  const CounterSeries& first = trace->counter_series(0);
  CHECK(first.size() * kKept <= kMostValues);
  CHECK(first.size() > 1'000);
  CHECK(first.extent() == TimeRange{0, kWindows * 100 * kMillisecond});
  CHECK(first.at(kWindows / 2 * 100 * kMillisecond)->value == Approx(9'500).margin(2));  // 570 of 600
}
