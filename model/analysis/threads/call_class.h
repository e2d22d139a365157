// The purpose of calls, by their names.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "model/analysis/idle/idle.h"
#include "model/trace/trace.h"

namespace lanescope::analysis {

[[nodiscard]] inline bool contains_any(std::string_view text, std::span<const std::string_view> words) noexcept {
  return std::any_of(words.begin(), words.end(), [&](std::string_view word) { return text.find(word) != std::string_view::npos; });
}

enum class CallClass : std::uint8_t {
  kLaunch,       // enqueues work: launches, asynchronous copies and sets, events, stream waits
  kSynchronize,  // waits for the GPU, or asks whether it is done
  kCopy,         // copies and returns when the copy is done
  kSetup,        // everything else: allocation, modules, streams, attributes
};
// The class of a CUDA runtime or driver call, with or without a version suffix: "cudaLaunchKernel_v7000", "cuStreamSynchronize".
[[nodiscard]] CallClass classify_cuda_call(std::string_view name) noexcept;
// True if a CUDA call creates a stream.
[[nodiscard]] bool creates_stream(std::string_view name) noexcept;

// True if a CUDA call asks whether the GPU is done, and returns at once.
[[nodiscard]] bool asks_gpu(std::string_view name) noexcept;

// True if a CUDA call enqueues kernels, graphs, copies or sets, all of which are recorded.
[[nodiscard]] bool enqueues_gpu_work(std::string_view name) noexcept;

// True if a CUDA call makes the GPU call a function of the process: a thread that waits for that function waits for the GPU.
[[nodiscard]] bool enqueues_host_function(std::string_view name) noexcept;

// True if a CUDA call makes a stream wait for an event or a value.
[[nodiscard]] bool makes_stream_wait(std::string_view name) noexcept;

// The cause of a call into the C library, such as "pthread_cond_wait" or "read": kOsIo, kOsLock, kOsSleep, kOsQueue or kOsOther.
[[nodiscard]] IdleCause classify_os_call(std::string_view name) noexcept;

// True if a kernel or range belongs to a communication library (NCCL, RCCL, NVSHMEM, MPI).
[[nodiscard]] bool is_communication_name(std::string_view name) noexcept;
// True if a kernel of such a library sends to some ranks and receives from some, as stages of a pipeline do. It ends when these have ended, and the
// kernel of the rank that starts last need not be the shortest.
[[nodiscard]] bool is_send_or_receive_name(std::string_view name) noexcept;
[[nodiscard]] bool is_communication_domain(std::string_view domain) noexcept;

// Answers to a question about names; the question is asked once for each name.
template <typename Answer>
class NameMemo {
 public:
  NameMemo(const Trace& trace, Answer (*question)(std::string_view)) : trace_(&trace), question_(question), known_(trace.name_count()) {}
  [[nodiscard]] Answer operator()(NameId name) {
    Entry& entry = known_[name];
    if (!entry.known) entry = {true, question_(trace_->name(name))};
    return entry.answer;
  }

 private:
  struct Entry {
    bool known = false;
    Answer answer{};
  };
  const Trace* trace_;
  Answer (*question_)(std::string_view);
  std::vector<Entry> known_;
};

}  // namespace lanescope::analysis
