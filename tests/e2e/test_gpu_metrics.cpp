// GPU metrics in a recording: what the sampler reports reaches the file, and a recording continues without a sampler.
#include "recorder.h"
#include "support/catch.h"
#include "support/paths.h"

using namespace lanescope;
using namespace lanescope::test;

namespace {

// Sets the program that samples instead of lanescope-gpu-metrics.
std::vector<Environment> sampled_by(const std::string& command) { return {{"LANESCOPE_GPU_METRICS", command}}; }
std::string imaginary() { return program("lanescope_program_gpu_metrics_source").string(); }

}  // namespace

TEST_CASE("samples of GPU metrics cover the program from its first event to its last") {
  const TemporaryFolder folder;
  const Ran ran = run_lanescope(folder.path(), {"profile", "--gpu-metrics-devices=all", "-o", "metrics", program("lanescope_program_nvtx_threads").string()},
                                sampled_by(imaginary()));
  REQUIRE(ran.code == 0);
  const auto trace = load(folder.path() / "metrics.trace");
  REQUIRE(trace->event_count() > 0);
  REQUIRE(trace->counters().size() == 2);
  for (const Process& process : trace->processes()) CHECK(process.instance != 0);  // the sampler is not a process of the trace
  const Counter& ramp = trace->counters()[0];
  CHECK(ramp.name == "Ramp");
  REQUIRE(ramp.gpu != kNone);
  CHECK(trace->gpus()[ramp.gpu].name == "Imaginary GPU");

  const CounterSeries& series = trace->counter_series(0);
  CHECK(series.extent().begin <= trace->extent().begin);
  CHECK(series.extent().end + 2'000'000 >= trace->extent().end);
  CHECK(series.summarize(series.extent()).covered == series.extent().length());  // no gap
  for (std::size_t i = 1; i < series.size(); ++i) REQUIRE(series.sample(i).value == series.sample(i - 1).value + 1);
  CHECK(trace->counter_series(1).summarize(series.extent()).minimum == 85);
  CHECK(trace->counters()[1].resolution == 0.5);

  const Ran table = run_lanescope(folder.path(), {"stats", "-f", "csv", "-r", "gpu_metric_sum", "metrics.trace"});
  CHECK(table.code == 0);
  CHECK_THAT(table.output, contains_text("Level,%,42.5,42.5,42.5,42.5,42.5"));
  CHECK_THAT(run_lanescope(folder.path(), {"info", "metrics.trace"}).output, contains_text("GPU metrics"));
}

TEST_CASE("what the sampler may not do is told to the user and to the reader of the file") {
  const TemporaryFolder folder;
  const Ran ran = run_lanescope(folder.path(), {"profile", "-t", "none", "--sample=none", "--gpu-metrics-devices=all", "-o", "refused", "true"},
                                sampled_by(imaginary() + " --refuse"));
  CHECK(ran.code == 0);
  CHECK_THAT(ran.messages, contains_text("for administrators"));
  const auto trace = load(folder.path() / "refused.trace");
  REQUIRE(trace->diagnostics().size() == 1);
  CHECK_THAT(trace->diagnostics()[0].text, contains_text("for administrators"));
  CHECK(trace->counters().empty());
}

TEST_CASE("a recording goes on without a sampler that works") {
  const char* command = GENERATE("/no/such/lanescope-gpu-metrics", "/bin/true", "/usr/bin/yes --");  // is missing, ends, writes nonsense
  CAPTURE(command);
  const TemporaryFolder folder;
  const Ran ran =
      run_lanescope(folder.path(), {"profile", "-t", "none", "--gpu-metrics-devices=0,1", "-o", "without", "sh", "-c", "exit 3"}, sampled_by(command));
  CHECK(ran.code == 3);
  if (std::string(command).starts_with("/no")) CHECK_THAT(ran.messages, contains_text("GPU metrics can't be sampled"));
  CHECK(load(folder.path() / "without.trace")->provenance().finished);
}

TEST_CASE("captures that are asked for one by one hold the samples of their own time") {
  const TemporaryFolder folder;
  const Ran ran = run_lanescope(folder.path(),
                                {"profile", "--gpu-metrics-devices=all", "-c", "nvtx", "-p", "wanted", "--capture-range-end=repeat", "-o", "part",
                                 program("lanescope_program_nvtx_captures").string(), "plain", "2"},
                                sampled_by(imaginary()));
  CHECK(ran.code == 3);
  for (const char* file : {"part.1.trace", "part.2.trace"}) {
    const auto trace = load(folder.path() / file);
    CAPTURE(file);
    REQUIRE(trace->counters().size() == 2);
    CHECK(trace->gpus().size() == 1);
  }
}

TEST_CASE("options of GPU metrics that make no sense are refused") {
  const TemporaryFolder folder;
  const auto refused = [&](const std::string& option) { return run_lanescope(folder.path(), {"profile", option, "true"}); };
  CHECK(refused("--gpu-metrics-devices=some").code == 2);
  CHECK(refused("--gpu-metrics-frequency=5").code == 2);
  CHECK(refused("--gpu-metrics-frequency=300k").code == 2);
  CHECK_THAT(refused("--gpu-metrics-frequency=fast").messages, contains_text("--gpu-metrics-frequency"));
  CHECK(run_lanescope(folder.path(), {"profile", "-t", "none", "--gpu-metrics-device=none", "--gpu-metrics-frequency=20k", "true"}).code == 0);
}
