// Counters of kernels of a recorded program, of the hardware or of single instructions: what to count, in which launches, and what was counted.
//
// They accompany a recording. The program finds the plan through a variable of its environment, and leaves what it counted in files of a folder. Values are
// made of these files when the recording has ended, by lanescope-kernel-metrics, a separate process.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "collector/channel/file_descriptor.h"
#include "collector/channel/kernel_counters.h"
#include "collector/session/measuring_watch.h"
#include "model/file/result.h"
#include "model/file/trace_file.h"

namespace lanescope::session {

enum class KernelReplay {
  kKernel,       // a kernel that needs several passes runs again and again, and the memory that it wrote is restored in between
  kSpread,       // launches of the same kernel and shape take one pass each: no kernel runs twice
  kApplication,  // the program runs again for each pass: KernelCounters::runs()
  kRange         // as kApplication; all kernels that run while a range is open are counted together, and still overlap
};
enum class LaunchesMeasured {
  kAll,    // all whose name fits
  kSample  // of these, the first of each kernel and shape, and the tenth, or the one that is chosen with the kind
};

enum class KernelCounting {
  kHardware,     // a value of each metric for a launch
  kInstructions  // a count for each instruction of a launch; each is made once, and slower
};

struct KernelCounterSettings {
  KernelCounting counting = KernelCounting::kHardware;
  std::vector<std::string> metrics;           // by NVIDIA's names; those that a GPU's chip lacks are left out
  std::vector<std::string> required_metrics;  // the same, but nothing is counted if a chip lacks one
  KernelReplay replay = KernelReplay::kKernel;
  LaunchesMeasured launches = LaunchesMeasured::kAll;
  std::string kernel;  // name of the kernel's function, or "regex:" and a pattern; empty: any
  std::string range;   // [DOMAIN@]TEXT: only launches while an NVTX range of that text is open in their process; empty: all. For kHardware
  // For kInstructions: the launch in another recording that the one launch of this kind stands for. The counts are appended to that recording.
  std::uint32_t process = 0;  // instance number
  std::uint32_t correlation = 0;
  std::vector<std::uint64_t> known_code;   // numbers of the code that the other recording has already
  std::vector<channel::ChosenKind> kinds;  // only launches of these kinds, whatever their names, at most kMostChosenKinds; empty: of any kind
  std::uint32_t skip = 0;                  // number of launches whose name fits before the first that is measured
  std::uint32_t count = 0;                 // number of launches to measure; 0: all
  std::chrono::nanoseconds budget{0};      // limit of the time that measuring may take in each process; 0: none
  std::chrono::nanoseconds patience{0};    // limit of the time to measure one launch, see KernelCounters::find_stuck(); 0: none
};

struct AppendedCounters {
  struct LeftOut {
    std::string kernel;  // mangled
    std::string reason;  // one sentence
  };
  std::vector<std::string> sentences;  // for the user: how much was measured, and what the plan could not take
  std::size_t launches = 0;            // number of launches that were measured
  std::vector<LeftOut> left_out;       // kernels that were chosen and not measured, each once for each reason
  std::vector<std::uint64_t> code;     // numbers of the code that was appended
};

class KernelCounters {
 public:
  // Makes the folder, in which programs of this user may leave what they counted, and starts making the plan. That takes as long as the driver takes to
  // start; programs wait for the plan. If metrics are required, start() itself waits for the plan, so that nothing runs that could not be counted. Fails with
  // one sentence.
  static Result<std::unique_ptr<KernelCounters>> start(const KernelCounterSettings& settings, std::optional<uid_t> user = {});
  ~KernelCounters();  // removes the folder
  KernelCounters(const KernelCounters&) = delete;
  KernelCounters& operator=(const KernelCounters&) = delete;

  // Waits, at most 60 s, until the process that makes the plan has what it needs for kHardware: a driver and a CUPTI, as far as that is known at once, or
  // what that process reports when the driver has started. The plan itself may be made while the program starts. Fails with one sentence if the machine lacks
  // these, or if there is no plan.
  [[nodiscard]] Result<void> await_machine();

  // Waits for the plan, at most 60 s; the process that makes it is ended then. Fails with one sentence if nothing can be counted. Any thread, once; meanwhile
  // only variables() and find_stuck() may be called.
  [[nodiscard]] Result<void> await_plan();

  // How often the program must run: once, except for kApplication and kRange. begin_next_run() must be called before each run except the first. Waits for the
  // plan. Fails with one sentence.
  [[nodiscard]] Result<std::size_t> runs();
  Result<void> begin_next_run();

  // Names and values of the variables by which this run of the program finds the plan and knows the range.
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> variables() const;

  // Returns the kernel (mangled) that a process of this run has been measuring for longer than settings.patience. Such a kernel may wait for work that can't
  // run meanwhile, and then never ends. This is read from the process's file, so that no answer from the process is needed. `running` are the processes that
  // still run, by instance number (RecordingStatistics); others are ignored. To be called about once a second, and not at the same time as append_to().
  [[nodiscard]] std::optional<std::string> find_stuck(std::span<const std::uint32_t> running);

  // Makes values of what was counted in all runs, and appends them to the finished file of the first run's recording. Fails with one sentence, also if
  // nothing could be measured. `meant`: the recording to add to; it fails if another recording has that name by now. Without it, any file of that name is
  // taken.
  Result<AppendedCounters> append_to(const std::filesystem::path& file, const std::optional<FileIdentity>& meant = {});

 private:
  KernelCounters(std::filesystem::path folder, KernelCounterSettings settings, std::optional<uid_t> user);
  [[nodiscard]] Result<void> make_folders() const;
  [[nodiscard]] Result<void> leave_word(const char* name) const;  // creates an empty file, which the program finds before there is a plan
  [[nodiscard]] std::vector<std::string> evaluation() const;

  std::filesystem::path folder_;
  KernelCounterSettings settings_;
  std::optional<uid_t> user_;  // of the program, if it is another user
  pid_t planner_ = 0;          // 0: none runs
  channel::FileDescriptor planner_output_;
  struct Evaluator;  // has loaded NVIDIA's libraries already when the program ends
  std::unique_ptr<Evaluator> evaluator_;
  std::size_t run_ = 0;
  MeasuringWatch measuring_;
};

// Returns what lanescope-kernel-metrics prints for these arguments. Fails with that program's sentence, of kind kUsage if it exits with 2. Also fails if the
// program can't be started, or prints nothing for 60 s, for example because the driver hangs.
Result<std::string> ask_kernel_metrics(const std::vector<std::string>& question);

// Checks that this machine has what counting needs: a driver, GPUs and a CUPTI that knows them. Takes as long as the driver takes to start, at most 60 s.
// Fails with one sentence.
Result<void> check_counters_can_be_read();

}  // namespace lanescope::session
