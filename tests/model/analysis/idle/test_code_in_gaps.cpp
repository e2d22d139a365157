// What is reported about the code that delayed a launching thread: where it is, what it waited behind, and what ran instead.
#include "answers.h"
#include "model/trace/building/thread_states.h"
#include "model/trace/combining/combine.h"
#include "model/trace/load.h"
#include "scenario.h"
#include "support/paths.h"

using namespace lanescope;
using namespace lanescope::analysis;
using namespace lanescope::test;

namespace {

// A kernel every 10 ms that takes 1 ms, and samples of the launching thread in between.
struct Sampled {
  Sampled() {
    for (int step = 0; step < 10; ++step) {
      const Nanoseconds t = step * 10 * kMillisecond;
      program.kernel("k", t, t + 5'000, t + 6'000, t + kMillisecond);
    }
  }
  // In `count` of the gaps, code of this file runs at these addresses, whose functions are not known.
  void in_unknown_code(const std::string& file, int count) {
    TraceBuilder& builder = *program.builder();
    for (int i = 0; i < count; ++i) {
      const std::string name = file + "+0x" + std::to_string(100 + samples.size());
      const CodeLocationId code =
          builder.code_location({CodeKind::kNative, builder.intern("/usr/lib/" + file), 0, 100 + samples.size()}, {builder.intern(name), 0, 0});
      const Nanoseconds time = (2 + 10 * static_cast<Nanoseconds>(samples.size() % 9)) * kMillisecond;
      samples.push_back({time + static_cast<Nanoseconds>(samples.size()), 0, {builder.call_node({0, code}), SampleOrigin::kTimer, kNone, 1'000}});
    }
  }
  Finding first() {
    std::sort(samples.begin(), samples.end(), [](const SampleEvent& a, const SampleEvent& b) { return a.start < b.start; });
    add_samples(*program.builder(), program.process(), 100, samples);
    const RuleAnswer bubbles = answer(*program.trace(), "gpu_bubbles");
    REQUIRE(!bubbles.findings.empty());
    return bubbles.findings.front();
  }
  Scenario program;
  std::vector<SampleEvent> samples;
};

// Steps in which the GPU works for 5 ms at what the CPU launches within 1 ms, with 50 us between two launches; after each step the CPU waits, or does not.
Scenario stepping(bool waits, int steps = 40) {
  Scenario program;
  Nanoseconds cpu = 0, gpu = 0;
  for (int step = 0; step < steps; ++step) {
    for (int launch = 0; launch < 20; ++launch) {
      const Nanoseconds begin = std::max(gpu, cpu + 6'000);
      program.kernel(launch == 19 ? "last" : "k", cpu, cpu + 5'000, begin, begin + (launch < 5 ? 20 : 300) * kMicrosecond);
      gpu = begin + (launch < 5 ? 20 : 300) * kMicrosecond;
      cpu += 50 * kMicrosecond;
    }
    if (!waits) continue;
    program.call("cudaStreamSynchronize", cpu, gpu + 5'000);
    cpu = gpu + 10'000;
  }
  return program;
}

std::shared_ptr<const Trace> recorded(const std::string& fault) {
  const auto trace = load_trace(test::data_file("training_faults/" + fault + ".trace"));
  REQUIRE(trace.has_value());
  return *trace;
}

Finding first_bubble_of(const Trace& trace) {
  const RuleAnswer bubbles = answer(trace, "gpu_bubbles");
  REQUIRE(!bubbles.findings.empty());
  return bubbles.findings.front();
}

}  // namespace

TEST_CASE("where no function has many samples, or none is known, the files that ran are named") {
  Sampled code;
  code.in_unknown_code("libdecode.so.2", 6);
  code.in_unknown_code("libresize.so", 3);
  const Finding finding = code.first();
  CHECK_THAT(finding.title, contains_text("ran CPU code: libdecode.so.2 (67 %)."));
  CHECK_THAT(finding.seen, contains_text("9 samples of the CPU in it, by file: libdecode.so.2 (67 %), libresize.so (33 %)."));
  CHECK_THAT(finding.advice, !contains_text("--python-sampling"));
}

TEST_CASE("samples of one of several recordings say nothing of the others, which are named") {
  Sampled code;
  code.in_unknown_code("libdecode.so.2", 9);
  add_samples(*code.program.builder(), code.program.process(), 100, code.samples);
  Scenario other(200);  // works like the first, without samples
  for (int step = 0; step < 10; ++step) {
    const Nanoseconds t = step * 10 * kMillisecond;
    other.kernel("k", t, t + 5'000, t + 6'000, t + kMillisecond);
  }
  const std::vector<TraceSource> sources{{code.program.trace(), "a.trace", 0}, {other.trace(), "b.trace", 0}};
  const Finding finding = first_bubble_of(*combine_traces(sources));
  REQUIRE(finding.key == "cpu_code");
  CHECK_THAT(finding.title, !contains_text("libdecode"));
  CHECK_THAT(finding.seen, contains_text("samples of the CPU in it, by file: libdecode.so.2 (100 %)."));
  CHECK_THAT(finding.seen, contains_text("There are no samples of b.trace."));
}

TEST_CASE("code of the Python interpreter asks for samples of Python") {
  Sampled code;
  code.in_unknown_code("python3.12", 6);
  code.in_unknown_code("libc.so.6", 3);
  CHECK_THAT(code.first().advice, contains_text("Record with --python-sampling to see which lines of Python run."));
}

TEST_CASE("code of a compiler of kernels is told from the program's own") {
  Sampled code;
  code.in_unknown_code("libnvrtc.so.13", 6);
  code.in_unknown_code("python3.12", 3);
  const Finding finding = code.first();
  CHECK_THAT(finding.advice, contains_text("Kernels are compiled while the program runs"));
  CHECK_THAT(finding.advice, !contains_text("--python-sampling"));
}

TEST_CASE("a launching thread that stood still: which thread ran meanwhile, if one did for most of the time") {
  // In each 10 ms the launching thread is blocked for 8 ms; another thread runs for `runs` of these.
  const auto blocked = [](Nanoseconds runs) {
    Scenario program;
    Scenario other = program.on_another_thread();
    for (int step = 0; step < 10; ++step) {
      const Nanoseconds t = step * 10 * kMillisecond;
      program.kernel("k", t, t + 5'000, t + 6'000, t + kMillisecond);
      program.state(ThreadState::kRunning, t, t + 2 * kMillisecond);
      program.state(ThreadState::kBlocked, t + 2 * kMillisecond, t + 10 * kMillisecond);
      other.state(ThreadState::kRunning, t + 2 * kMillisecond, t + 2 * kMillisecond + runs);
      other.state(ThreadState::kBlocked, t + 2 * kMillisecond + runs, t + 12 * kMillisecond);
    }
    return first_bubble_of(*program.trace());
  };
  const Finding most = blocked(6 * kMillisecond);
  CHECK(most.key == "os_blocked");
  CHECK_THAT(most.seen, contains_text("Meanwhile thread [101]"));
  CHECK_THAT(most.seen, contains_text("ran for 75 % of it."));
  CHECK_THAT(most.advice, contains_text("Look at what the other thread does"));
  CHECK_THAT(blocked(3 * kMillisecond).seen, !contains_text("Meanwhile"));
}

TEST_CASE("a launching thread that was blocked: who woke it, as far as that was recorded for most of the time") {
  // In each 10 ms the launching thread is blocked for 8 ms. Thread 101 ends `woken` of ten of these times, and thread 4711, which was not recorded, the others.
  const auto blocked = [](int woken, std::uint32_t other_waker) {
    Scenario program;
    Scenario other = program.on_another_thread();
    for (int step = 0; step < 10; ++step) {
      const Nanoseconds t = step * 10 * kMillisecond;
      program.kernel("k", t, t + 5'000, t + 6'000, t + kMillisecond);
      program.state(ThreadState::kRunning, t, t + 2 * kMillisecond);
      program.state(ThreadState::kBlocked, t + 2 * kMillisecond, t + 10 * kMillisecond, step < woken ? 101 : other_waker);
      other.state(ThreadState::kRunning, t + 9 * kMillisecond, t + 10 * kMillisecond);
    }
    return first_bubble_of(*program.trace());
  };
  const Finding most = blocked(10, 0);
  CHECK(most.key == "os_blocked");
  CHECK_THAT(most.seen, contains_text("Thread [101] woke the launching thread at the end of 100 % of it."));
  CHECK_THAT(most.seen, !contains_text("Meanwhile"));
  CHECK_THAT(blocked(8, 0).seen, contains_text("Thread [101] woke the launching thread at the end of"));
  CHECK_THAT(blocked(2, 4711).seen, contains_text("Thread [4711] woke the launching thread at the end of"));
  CHECK_THAT(blocked(3, 0).seen, !contains_text("woke the launching thread"));
}

TEST_CASE("idle time behind waits for the GPU is due to them as far as they blocked") {
  // After a wait that blocked for 3.6 ms, five kernels of 20 us are launched 50 us apart: the CPU is ahead after these.
  const Finding finding = first_bubble_of(*stepping(true).trace());
  CHECK(finding.key == "cpu_code");
  CHECK_THAT(finding.title, contains_text("ran CPU code, after a wait for the GPU (cudaStreamSynchronize)."));
  CHECK_THAT(finding.seen, contains_text("lie behind waits for the GPU (cudaStreamSynchronize): without them the CPU would have been ahead."));
  CHECK_THAT(finding.advice, contains_text("Wait seldom"));
  // This is true: without waits the same program leaves the GPU idle in its first step only.
  const RuleAnswer ahead = answer(*stepping(false).trace(), "gpu_bubbles:share=0");
  Nanoseconds idle = 0;
  for (const Finding& each : ahead.findings) idle += each.cost;
  CHECK(idle < finding.cost / 20);
}

TEST_CASE("where the CPU is behind the GPU all the time, waits cost nothing that is laid to them") {
  Scenario program;  // a kernel of 20 us every 100 us; at the wait the GPU has already finished
  for (int launch = 0; launch < 400; ++launch) {
    const Nanoseconds t = launch * 100 * kMicrosecond;
    program.kernel("k", t, t + 5'000, t + 6'000, t + 26'000);
    if (launch % 20 == 19) program.call("cudaStreamSynchronize", t + 90'000, t + 92'000);
  }
  const Finding finding = first_bubble_of(*program.trace());
  CHECK(finding.key == "cpu_code");
  CHECK_THAT(finding.title, contains_text("ran CPU code between launches"));
  CHECK_THAT(finding.seen, !contains_text("behind waits"));
}

TEST_CASE("a wait that lies many calls back was made up for") {
  // Five times, after a wait of 5 ms and as many calls, the CPU runs code for 0.4 ms before each of ten kernels.
  const auto idle_behind = [](int calls) {
    Scenario program;
    Nanoseconds t = 0;
    for (int step = 0; step < 5; ++step) {
      program.kernel("long", t, t + 5'000, t + 6'000, t + 5 * kMillisecond);
      program.call("cudaStreamSynchronize", t + 10'000, t + 5 * kMillisecond);
      t += 5 * kMillisecond + 1'000;
      for (int i = 0; i < calls; ++i, t += 200) program.call("cudaGetDevice", t, t + 100);
      for (int i = 0; i < 10; ++i, t += 420 * kMicrosecond) program.kernel("k", t, t + 5'000, t + 6'000, t + 26'000);
    }
    return first_bubble_of(*program.trace()).seen;
  };
  CHECK_THAT(idle_behind(1'000), contains_text("behind waits for the GPU (cudaStreamSynchronize)"));
  CHECK_THAT(idle_behind(2'100), !contains_text("behind waits"));
}

TEST_CASE("waits of training leave nothing to say about validation that its own code holds up") {
  // Each epoch has 20 steps of 1,200 kernels, which the GPU has in its queue until a wait, then 20 steps of 95 ms of code and a kernel of 5 ms.
  Scenario program;
  Nanoseconds t = 0;
  for (int epoch = 0; epoch < 3; ++epoch) {
    for (int step = 0; step < 20; ++step) {
      Nanoseconds gpu = t + 10'000;
      for (int k = 0; k < 1'200; ++k, gpu += 83 * kMicrosecond) program.kernel("k", t + k * 5'000, t + k * 5'000 + 3'000, gpu, gpu + 83 * kMicrosecond);
      program.call("cudaStreamSynchronize", t + 6'010 * kMicrosecond, gpu + 1'000);
      t = gpu + 2'000;
    }
    for (int step = 0; step < 20; ++step) {
      t += 95 * kMillisecond;
      program.kernel("validate", t, t + 5'000, t + 6'000, t + 5 * kMillisecond);
      t += 5 * kMillisecond;
    }
  }
  const Finding finding = first_bubble_of(*program.trace());
  CHECK(finding.key == "cpu_code");
  CHECK_THAT(finding.title, !contains_text("waited for the GPU"));
  CHECK_THAT(finding.advice, contains_text("Make this code faster"));
}

TEST_CASE("code that uses what a wait brought is what to look at, however long the wait was") {
  Scenario program;  // after each 20 ms of the GPU's work, 15 ms of code that uses its result
  Nanoseconds t = 0;
  for (int step = 0; step < 50; ++step) {
    program.kernel("k", t, t + 5'000, t + 6'000, t + 20 * kMillisecond);
    program.call("cudaStreamSynchronize", t + 10'000, t + 20 * kMillisecond + 2'000);
    t += 35 * kMillisecond;
  }
  const Finding finding = first_bubble_of(*program.trace());
  CHECK(finding.key == "cpu_code");
  CHECK_THAT(finding.title, !contains_text("waited for the GPU"));
}

TEST_CASE("a thread that waits for data waits for no lock, whoever runs meanwhile, and who runs in circles holds none") {
  const auto blocked = [](const char* call, const char* function) {
    Scenario program;
    Scenario other = program.on_another_thread();
    TraceBuilder& builder = *program.builder();
    const CallNodeId node =
        builder.call_node({0, builder.code_location({CodeKind::kNative, builder.intern("/usr/lib/libworker.so"), 0, 100}, {builder.intern(function), 0, 0})});
    std::vector<SampleEvent> samples;
    for (int step = 0; step < 10; ++step) {
      const Nanoseconds t = step * 10 * kMillisecond;
      program.kernel("k", t, t + 5'000, t + 6'000, t + kMillisecond);
      program.state(ThreadState::kRunning, t, t + 2 * kMillisecond);
      program.state(ThreadState::kBlocked, t + 2 * kMillisecond, t + 10 * kMillisecond);
      program.os_call(call, t + 2 * kMillisecond, t + 10 * kMillisecond);
      other.state(ThreadState::kRunning, t, t + 10 * kMillisecond);
      for (int i = 0; i < 10; ++i) samples.push_back({t + i * kMillisecond, 0, {node, SampleOrigin::kTimer, kNone, 1'000}});
    }
    add_samples(builder, program.process(), 101, samples);
    return first_bubble_of(*program.trace());
  };
  const Finding data = blocked("poll", "compute");
  CHECK(data.key == "os_queue");
  CHECK_THAT(data.seen, contains_text("Meanwhile thread [101]"));
  CHECK_THAT(data.advice, !contains_text("lock"));
  CHECK_THAT(blocked("pthread_cond_wait", "compute").advice, contains_text("a lock that it holds"));
  CHECK_THAT(blocked("pthread_cond_wait", "gomp_barrier_wait_end").seen, !contains_text("Meanwhile"));
}

TEST_CASE("a burst of kernels that setup launches is no loop, however many they are") {
  Scenario program;
  for (int i = 0; i < 800; ++i) program.kernel("fill", i * 5'000, i * 5'000 + 3'000, i * 5'000 + 4'000, i * 5'000 + 6'000);
  const Nanoseconds begin = 4'400 * kMillisecond;  // 4.4 s later
  for (int step = 0; step < 44; ++step)
    for (int k = 0; k < 20; ++k) {
      const Nanoseconds t = begin + step * 24 * kMillisecond + k * kMillisecond;
      program.kernel(k == 0 ? "first" : "k", t, t + 5'000, t + 6'000, t + 900 * kMicrosecond);
    }
  const RuleAnswer bubbles = answer(*program.trace(), "gpu_bubbles");
  CHECK_THAT(bubbles.summary, contains_text("in the time in which its work repeats"));
  CHECK_THAT(bubbles.summary, contains_text("of 1.05 s"));  // 44 steps of 24 ms, less the end of the last one
}

TEST_CASE("recorded training with a fault: a Python thread that computes beside it") {
  const Finding finding = first_bubble_of(*recorded("busy_python_thread"));
  CHECK(finding.key == "os_blocked");
  CHECK_THAT(finding.seen, contains_text("Meanwhile thread [1433] python3 ran for 100 % of it"));
  CHECK_THAT(finding.advice, contains_text("Python's lock (GIL)"));
}

TEST_CASE("recorded training with a fault: loss.item() in each step") {
  // A step takes 24.36 ms with it and 23.94 ms without it, as measured by the program: 1.7 %.
  const RuleAnswer bubbles = answer(*recorded("loss_each_step"), "gpu_bubbles");
  REQUIRE(!bubbles.findings.empty());
  CHECK_THAT(bubbles.findings[0].title, contains_text("after a wait for the GPU (cudaStreamSynchronize)"));
  CHECK_THAT(bubbles.findings[0].advice, contains_text(".item()"));
}

TEST_CASE("recorded training with a fault: images of new sizes, for which cuDNN compiles") {
  const Finding finding = first_bubble_of(*recorded("new_shapes"));
  CHECK_THAT(finding.title, contains_text("ran CPU code: libnvrtc.so.13 (89 %)."));
  CHECK_THAT(finding.advice, contains_text("torch.backends.cudnn.benchmark"));
}
