// What to record and when, as chosen in the dialogs for launching and attaching.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include <QString>
#include <QStringList>

#include "collector/session/recording.h"

namespace lanescope::ui {

// The CUDA calls whose call chain is recorded if they take long.
enum class ChainsOf { kNone, kWaits, kWork, kAll };

// What happens to a launched program if its recording ends first, because it is stopped or its time is over.
enum class ProgramAtEnd { kEnds, kRunsOn };

// How a running process is recorded.
enum class Observation { kWithin, kFromOutside };

struct CaptureChoices {
  bool from_outside = false;  // of a running process: only its threads and GPU metrics, so that nothing enters the process
  bool trace_cuda = true;
  bool trace_nvtx = true;
  bool trace_os_runtime = false;
  bool file_access = false;  // with trace_os_runtime: the files that calls use
  bool trace_mpi = false;
  QStringList libraries;                                           // of session::library_traces(): libraries whose calls are recorded
  session::PytorchRanges pytorch = session::PytorchRanges::kNone;  // for launched programs, if NVTX is recorded
  QString python_ranges_of;  // file with the names of Python functions that become ranges, on the machine of the program; condition as above
  bool memory_usage = false;
  bool page_faults = false;  // of unified memory
  bool cuda_events = false;
  ChainsOf call_chains_of = ChainsOf::kNone;
  int call_chains_from = 1000;  // ns; of calls that take at least this long
  int flush_interval = 500;     // ms between collections of finished GPU work; 0: when a buffer is full
  session::Preset preset = session::Preset::kDefault;
  std::optional<session::GraphLevel> graph_level;  // nothing: the level that suits the preset
  double delay = 0;                                // s; nothing is recorded before
  double duration = 0;                             // s; after it the recording ends; 0: unlimited
  ProgramAtEnd program_at_end = ProgramAtEnd::kEnds;
  bool wait_for_children = true;        // the recording of a launched program ends when its recorded children have ended, too
  bool all_calls = false;               // also CUDA calls that do not matter for timing
  int os_runtime_threshold = 1000;      // ns; shorter calls are left out
  int os_runtime_chains_from = 80'000;  // ns; calls that take at least this long get the code that makes them; 0: none
  session::DomainRule domain_rule = session::DomainRule::kAll;
  QStringList domains;                                               // "default" is the domain without a name
  session::CaptureTrigger trigger = session::CaptureTrigger::kNone;  // not kRequest
  QString range;                                                     // kNvtxRange: the text of the range
  QString range_domain;                                              // empty: the default domain; "*": every domain
  session::AfterCapture after_range = session::AfterCapture::kShutdown;
  int repeats = 0;       // kRepeat: the number of captures, after which the program runs on unrecorded; 0: unlimited
  double keep_last = 0;  // s before the end; 0: everything
  double file_size = 0;  // MB; the capture ends at this size; 0: unlimited
  bool thread_states = true;
  bool samples = true;
  bool whole_machine = false;  // threads of every process
  QString debug_folders;       // separated by colons
  cpu::CallChains call_chains = cpu::CallChains::kFramePointers;
  int sampling_frequency = 1000;  // Hz
  bool system_calls = false;
  QStringList kernel_events;     // "sched/sched_switch"
  QStringList counted_events;    // of cpu::counted_events()
  bool network_metrics = false;  // of the machine, like the next member
  bool storage_metrics = false;
  bool gpu_metrics = false;
  QString gpu_metrics_devices = QStringLiteral("all");  // or cuda-visible, or numbers: 0,1
  QString gpu_metrics_set = QStringLiteral("default");
  int gpu_metrics_frequency = 2'000;  // Hz
  bool python_functions = false;
  bool python_lock = false;
  bool operator==(const CaptureChoices&) const = default;
};

enum class LibraryCalls { kLeftOut, kRecorded };
void choose_library(CaptureChoices& choices, const QString& trace, LibraryCalls calls);
[[nodiscard]] session::CaptureSettings capture_settings(const CaptureChoices& choices);
[[nodiscard]] std::chrono::nanoseconds seconds(double value);
[[nodiscard]] std::vector<std::string> words(const QStringList& texts);

enum class Target { kLaunched, kRunning };  // calls of MPI cannot be recorded in a running process

}  // namespace lanescope::ui
