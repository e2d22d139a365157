// What to record and when, as launching and attaching ask for it.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include <QString>
#include <QStringList>

#include "collector/session/recording.h"

namespace lanescope::ui {

// CUDA calls of which the call chain is taken, where they take long.
enum class ChainsOf { kNone, kWaits, kWork, kAll };

// What becomes of a program that was launched, where its recording ends first: it is stopped, or its time is over.
enum class ProgramAtEnd { kEnds, kRunsOn };

// How a running process is recorded.
enum class Observation { kWithin, kFromOutside };

struct CaptureChoices {
  bool from_outside = false;  // of a running process: its threads and GPU metrics alone, so that nothing enters it
  bool trace_cuda = true;
  bool trace_nvtx = true;
  bool trace_os_runtime = false;
  bool file_access = false;  // with trace_os_runtime: which files its calls use
  bool trace_mpi = false;
  QStringList libraries;                                           // of session::library_traces(), whose calls are recorded
  session::PytorchRanges pytorch = session::PytorchRanges::kNone;  // of programs that are launched, where NVTX is recorded
  QString python_ranges_of;  // file that names functions of Python which become ranges, where the program runs; as the one before
  bool memory_usage = false;
  bool page_faults = false;  // of unified memory
  bool cuda_events = false;
  ChainsOf call_chains_of = ChainsOf::kNone;
  int call_chains_from = 1000;  // ns; of calls that take so long
  int flush_interval = 500;     // ms between collections of finished GPU work; 0: when a buffer is full
  session::Preset preset = session::Preset::kDefault;
  std::optional<session::GraphLevel> graph_level;  // none: what suits the preset
  double delay = 0;                                // s; what happens before is not recorded
  double duration = 0;                             // s; then the recording ends; 0: it goes on
  ProgramAtEnd program_at_end = ProgramAtEnd::kEnds;
  bool wait_for_children = true;        // the recording of a launched program ends with its recorded children
  bool all_calls = false;               // also CUDA calls that say nothing about time
  int os_runtime_threshold = 1000;      // ns; shorter calls are left out
  int os_runtime_chains_from = 80'000;  // ns; which code makes calls that take so long; 0: of none
  session::DomainRule domain_rule = session::DomainRule::kAll;
  QStringList domains;                                               // "default" is the one without a name
  session::CaptureTrigger trigger = session::CaptureTrigger::kNone;  // not kRequest
  QString range;                                                     // kNvtxRange: its text
  QString range_domain;                                              // empty: the default domain; "*": every domain
  session::AfterCapture after_range = session::AfterCapture::kShutdown;
  int repeats = 0;       // kRepeat: after so many the program runs on unrecorded; 0: never
  double keep_last = 0;  // s before the end; 0: all
  double file_size = 0;  // MB; the capture ends there; 0: never
  bool thread_states = true;
  bool samples = true;
  bool whole_machine = false;  // threads of every process
  QString debug_folders;       // separated by colons
  cpu::CallChains call_chains = cpu::CallChains::kFramePointers;
  int sampling_frequency = 1000;  // Hz
  bool system_calls = false;
  QStringList kernel_events;     // "sched/sched_switch"
  QStringList counted_events;    // of cpu::counted_events()
  bool network_metrics = false;  // of the machine, as the next
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

enum class Target { kLaunched, kRunning };  // a running process can't have its calls of MPI recorded

}  // namespace lanescope::ui
