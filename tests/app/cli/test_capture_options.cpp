// What options that users of nsys type mean for a recording.
#include <cstdlib>

#include "command.h"
#include "options/capture_options.h"
#include "options/launch_options.h"
#include "support/catch.h"

using namespace lanescope;
using namespace lanescope::cli;

namespace {

Result<session::LaunchRequest> request(const Arguments& arguments) {
  CLI::App app("", "lanescope sample");
  LaunchOptions options;
  describe_launch(app, options);
  auto split = split_program(app, arguments);
  REQUIRE(split);
  REQUIRE_FALSE(parse(app, split->options));
  return launch_request(options, split->program);
}
session::CaptureSettings settings(const Arguments& arguments) {
  Arguments whole = arguments;
  whole.push_back("app");
  const auto made = request(whole);
  REQUIRE(made);
  return made->settings;
}

}  // namespace

TEST_CASE("what of CUDA is recorded beyond the preset is chosen one by one") {
  const session::CaptureSettings plain = settings({});
  CHECK_FALSE(plain.memory_usage);
  CHECK_FALSE(plain.cpu_page_faults);
  CHECK_FALSE(plain.gpu_page_faults);
  CHECK_FALSE(plain.cuda_events);
  CHECK(settings({"--cuda-memory-usage=true"}).memory_usage);
  CHECK(settings({"--cuda-memory-usage", "true"}).memory_usage);
  CHECK(settings({"--preset=deep"}).memory_usage);
  CHECK_FALSE(settings({"--preset=deep", "--cuda-memory-usage=false"}).memory_usage);
  CHECK(settings({"--cuda-um-cpu-page-faults=true"}).cpu_page_faults);
  CHECK(settings({"--cuda-um-gpu-page-faults=true"}).gpu_page_faults);
  CHECK(settings({"--cuda-event-trace=true"}).cuda_events);
  CHECK_FALSE(settings({"--cuda-event-trace=false"}).cuda_events);
  CHECK_FALSE(settings({"--cuda-event-trace=auto"}).cuda_events);
}

TEST_CASE("call chains are taken of the sorts of calls that are named, from one threshold on") {
  using std::chrono::nanoseconds;
  const session::CudaBacktraces none = settings({}).backtraces;
  CHECK_FALSE((none.kernels || none.memory || none.synchronizations || none.others));
  const session::CudaBacktraces two = settings({"--cudabacktrace=kernel,sync:20000"}).backtraces;
  CHECK(two.kernels);
  CHECK(two.synchronizations);
  CHECK_FALSE(two.memory);
  CHECK_FALSE(two.others);
  CHECK(two.threshold == nanoseconds(20'000));
  // nsys has a threshold for each sort: the least one holds for all, so that no call is missing that was asked for.
  const session::CudaBacktraces least = settings({"--cudabacktrace=kernel:5000,sync:300,memory"}).backtraces;
  CHECK((least.kernels && least.synchronizations && least.memory));
  CHECK(least.threshold == nanoseconds(300));
  const session::CudaBacktraces all = settings({"--cudabacktrace=all"}).backtraces;
  CHECK((all.kernels && all.memory && all.synchronizations && all.others));
  CHECK(all.threshold == nanoseconds(1'000));
  for (const char* wrong : {"--cudabacktrace=kernels", "--cudabacktrace=kernel:", "--cudabacktrace=kernel:1us"}) {
    const auto refused = request({wrong, "app"});
    REQUIRE_FALSE(refused);
    CHECK(refused.error().kind == ErrorKind::kUsage);
  }
}

TEST_CASE("libraries that mark their own calls are told to, and their ranges alone are recorded unless all are") {
  unsetenv("CUBLAS_NVTX_LEVEL");
  const auto alone = request({"-t", "cublas,nccl", "app"});
  REQUIRE(alone);
  CHECK(alone->settings.trace_cuda);
  CHECK(alone->settings.trace_nvtx);
  CHECK(alone->settings.domain_rule == session::DomainRule::kOnlyListed);
  CHECK(alone->settings.domains == std::vector<std::string>{"NCCL", "cuBLAS"});
  const auto level = [](const session::LaunchRequest& made, std::string_view name) {
    std::string value = "unset";
    for (const session::EnvironmentChange& change : made.environment)
      if (change.name == name) value = change.value.value_or("removed");
    return value;
  };
  CHECK(level(*alone, "CUBLAS_NVTX_LEVEL") == "1");
  CHECK(level(*alone, "CUBLASLT_NVTX_LEVEL") == "1");
  CHECK(level(*alone, "CUDNN_NVTX_LEVEL") == "unset");

  const auto among = request({"-t", "cuda,nvtx,cublas-verbose", "-e", "CUBLASLT_NVTX_LEVEL=0", "app"});
  REQUIRE(among);
  CHECK(among->settings.domain_rule == session::DomainRule::kAll);
  CHECK(level(*among, "CUBLAS_NVTX_LEVEL") == "2");
  CHECK(level(*among, "CUBLASLT_NVTX_LEVEL") == "0");  // a variable set by name takes precedence

  const auto chosen = request({"-t", "nvtx,nccl", "--nvtx-domain-include=train", "app"});
  REQUIRE(chosen);
  CHECK(chosen->settings.domains == std::vector<std::string>{"train", "NCCL"});
}
