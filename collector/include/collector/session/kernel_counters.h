// Counters of kernels of a program that is recorded, of the hardware or of their instructions: what is to be counted, and of which launches; and what was
// counted.
//
// They accompany a recording: the program finds the plan by a variable of its environment, and leaves what it counted in files of a folder,
// from which values are made when the recording has ended (lanescope-kernel-metrics, a process of its own).
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
  kRange         // likewise; all kernels that run while a range is open are counted together, beside each other as they are
};
enum class LaunchesMeasured {
  kAll,    // whose name fits
  kSample  // of these, the first of each kernel and shape, and the tenth, or that which is chosen with the kind
};

enum class KernelCounting {
  kHardware,     // a value of each metric for a launch
  kInstructions  // a count for each instruction of a launch; each is made once, and slower
};

struct KernelCounterSettings {
  KernelCounting counting = KernelCounting::kHardware;
  std::vector<std::string> metrics;           // by NVIDIA's names; those that a GPU's chip lacks are left out
  std::vector<std::string> required_metrics;  // the same, but nothing is counted where a chip lacks one
  KernelReplay replay = KernelReplay::kKernel;
  LaunchesMeasured launches = LaunchesMeasured::kAll;
  std::string kernel;  // name of the kernel's function, or "regex:" and a pattern; empty: any
  std::string range;   // [DOMAIN@]TEXT: only launches while an NVTX range of that text is open in their process; empty: all. Of kHardware
  // Of kInstructions: the launch of another recording, to which this is appended, that the one launch of this kind stands for.
  std::uint32_t process = 0;  // instance number
  std::uint32_t correlation = 0;
  std::vector<std::uint64_t> known_code;   // that the other recording has already: its numbers
  std::vector<channel::ChosenKind> kinds;  // only launches of these, whatever their names, kMostChosenKinds at most; empty: of any
  std::uint32_t skip = 0;                  // so many launches whose name fits come before the first that is measured
  std::uint32_t count = 0;                 // and so many are; 0: all
  std::chrono::nanoseconds budget{0};      // that measuring may take of each process; 0: without end
  std::chrono::nanoseconds patience{0};    // that one launch may take to be measured: KernelCounters::find_stuck(); 0: as long as it likes
};

struct AppendedCounters {
  struct LeftOut {
    std::string kernel;  // mangled
    std::string reason;  // one sentence
  };
  std::vector<std::string> sentences;  // for the user: how much was measured, and what the plan could not take
  std::size_t launches = 0;            // that were measured
  std::vector<LeftOut> left_out;       // kernels that were chosen and were not, each once a reason
  std::vector<std::uint64_t> code;     // numbers of the code that was appended
};

class KernelCounters {
 public:
  // Makes the folder, in which programs of this user may leave what they counted, and has the plan made, which takes the driver's time to start: programs wait
  // for it. Where metrics are required, it waits for the plan itself, so that nothing runs that could not be counted. Fails with one sentence.
  static Result<std::unique_ptr<KernelCounters>> start(const KernelCounterSettings& settings, std::optional<uid_t> user = {});
  ~KernelCounters();  // removes the folder
  KernelCounters(const KernelCounters&) = delete;
  KernelCounters& operator=(const KernelCounters&) = delete;

  // Waits until who makes the plan has what it needs for kHardware, 60 s at most: a driver and a CUPTI, as far as that is known at once, or else what says so
  // when the driver has started. The plan itself may be made while the program starts. Fails with one sentence where there is none, or there is no plan.
  [[nodiscard]] Result<void> await_machine();

  // Waits for the plan, 60 s at most; who makes it is ended then. Fails with one sentence where nothing can
  // be counted. Threads: any, once; nothing else is called meanwhile but variables() and find_stuck().
  [[nodiscard]] Result<void> await_plan();

  // How often the program is to run, each time behind begin_next_run() but the first: once, but for kApplication and kRange. Waits for the plan. Fails with one
  // sentence.
  [[nodiscard]] Result<std::size_t> runs();
  Result<void> begin_next_run();

  // By which this run of the program finds the plan, and knows the range: names and values.
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> variables() const;

  // The kernel (mangled) that a process of this run has been measuring for longer than settings.patience: it may wait for what can't run meanwhile, and then
  // never ends. Told by what the process leaves in its file, so that it needs nobody there who answers. Only those processes count that run still, by instance
  // number (RecordingStatistics). Called every second or so, and not at the same time as append_to().
  [[nodiscard]] std::optional<std::string> find_stuck(std::span<const std::uint32_t> running);

  // Makes values of what was counted in all runs, and appends them to the file of the first one's recording, which is finished. Fails with one sentence,
  // where nothing could be measured as well. `meant`: the recording to add to; fails where another has its name by now. None: whatever has the name.
  Result<AppendedCounters> append_to(const std::filesystem::path& file, const std::optional<FileIdentity>& meant = {});

 private:
  KernelCounters(std::filesystem::path folder, KernelCounterSettings settings, std::optional<uid_t> user);
  [[nodiscard]] Result<void> make_folders() const;
  [[nodiscard]] Result<void> leave_word(const char* name) const;  // an empty file, which the program finds before there is a plan
  [[nodiscard]] std::vector<std::string> evaluation() const;

  std::filesystem::path folder_;
  KernelCounterSettings settings_;
  std::optional<uid_t> user_;  // of the program, where it is another one
  pid_t planner_ = 0;          // 0: none runs
  channel::FileDescriptor planner_output_;
  struct Evaluator;  // which has NVIDIA's libraries already when the program ends
  std::unique_ptr<Evaluator> evaluator_;
  std::size_t run_ = 0;
  MeasuringWatch measuring_;
};

// What lanescope-kernel-metrics prints for these arguments. Fails with its sentence, of kind kUsage where it ends with 2, and where it can't
// be started, or says nothing for 60 s, as where the driver hangs.
Result<std::string> ask_kernel_metrics(const std::vector<std::string>& question);

// Whether this machine has what counts: a driver, GPUs and a CUPTI that knows them. Takes the driver's time to start, 60 s at most. Fails with one
// sentence.
Result<void> check_counters_can_be_read();

}  // namespace lanescope::session
