// GPU activity of this process, from CUPTI's buffers to frames.
//
// CUPTI's callbacks run on the target's threads and only hand buffers over. A thread of our own reads, encodes and writes, asks CUPTI for complete buffers from
// time to time, follows the host's settings, and hands everything over at the end: when the host asks for it, or when the target exits, which waits for that
// for at most two seconds. CUPTI is never finalized, and its buffers are never freed.
//
// Refusals of CUPTI are reported. If they leave nothing to record, everything that was asked of CUPTI is taken back. A fault in a call into CUPTI, or on our
// own thread, ends the recording of GPU activity: CUPTI is asked for nothing more, and the program runs on.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

#include "agent/cupti/kernel_profiler.h"
#include "agent/cupti/library/injection.h"
#include "agent/cupti/library/library.h"
#include "agent/cupti/records/buffers.h"
#include "agent/cupti/records/kinds.h"
#include "agent/cupti/records/records.h"
#include "agent/encode/clock_map.h"
#include "agent/encode/event_encoder.h"
#include "agent/encode/frame_writer.h"
#include "agent/process/lock.h"
#include "collector/channel/shared_memory.h"

namespace lanescope::agent::cupti {

class Tracer {
 public:
  // Requires: the place of the memory is held (channel/places.h). *this releases it when it takes the next session's.
  Tracer(const Library& library, channel::SharedMemory memory, std::uint32_t process_instance) noexcept;
  Tracer(const Tracer&) = delete;
  Tracer& operator=(const Tracer&) = delete;

  // Subscribes, asks for records and starts the thread. Returns true if GPU activity is recorded from now on. If false, the user was told, and CUPTI has
  // nothing left to call. Requires: called once, and *this lives as long as the process.
  bool start(Arrival arrival) noexcept;

  // Changes to another session; the previous one has been left. The records are requested anew; returns when that is done, or after two seconds. Any thread
  // except ours.
  void follow(channel::SharedMemory memory, std::uint32_t process_instance) noexcept;

  // For CUPTI. Any thread.
  void request_buffer(std::uint8_t** buffer, std::size_t* bytes) noexcept;
  void complete_buffer(std::uint8_t* buffer, std::size_t valid_bytes) noexcept;

  // Also for CUPTI: contexts and modules that are created and destroyed.
  [[nodiscard]] KernelProfiler& kernel_profiler() noexcept { return kernels_; }
  // For CUPTI's callbacks: the driver is initialized now; a context is about to end, so its records are requested first.
  void note_driver() noexcept;
  void save_records() noexcept;

  // Returns when records are requested if the host wants them, and no longer requested if it does not, or after two seconds. Any thread except ours.
  void await_settings() noexcept;

  // Hands everything over. Returns when that is done, when nothing was read for two seconds, or after thirty seconds. Any thread except ours.
  void finish() noexcept;
  // The same, but recording goes on.
  void hand_over() noexcept;
  // The same for a thread that is about to end the process by a signal: takes at most half a second, and does nothing on our own thread. Safe in a signal
  // handler.
  void hand_over_at_crash() noexcept;

 private:
  bool subscribe() noexcept;
  bool take_cupti(Arrival arrival) noexcept;
  void give_cupti_back() noexcept;  // everything that was asked of it
  bool start_recording(Arrival arrival) noexcept;
  bool start_thread() noexcept;
  std::uint32_t want_handover() noexcept;  // its number; 0: there is nothing left to hand over
  void await_while_reading(std::atomic<std::uint32_t>& word, std::uint32_t wanted) noexcept;
  void report_failure(CUptiResult result) noexcept;
  void report_refused(const char* are, CUptiResult result) noexcept;
  void note_fault() noexcept;  // of CUPTI, on another thread than ours

  // On our own thread.
  void run() noexcept;
  void look() noexcept;
  bool begin_next_session() noexcept;  // returns true if there is one
  void write_for(channel::SharedMemory memory, std::uint32_t process_instance) noexcept;
  void follow_settings() noexcept;
  enum class Recorded { kYes, kNo };
  void set_recording(Recorded recorded) noexcept;
  void follow_unified_memory() noexcept;
  void check_event_records() noexcept;
  void drain() noexcept;
  void write_out() noexcept;
  void write_events() noexcept;
  void end_reading() noexcept;  // after a fault
  // If somebody waits for everything to be handed over because the process or its program ends, does so, answers, and returns true.
  bool serve_end() noexcept;
  void go_on_without_cupti(const char* told) noexcept;  // after a fault
  void read_clock(std::int64_t now) noexcept;
  void hand_everything_over() noexcept;
  void take_finished_records() noexcept;
  void take_all_records() noexcept;  // including records of work that has not ended
  void tell_unfinished(std::uint64_t count) noexcept;
  void tell_missing_faults() noexcept;      // of unified memory
  void release_late_graph_work() noexcept;  // all of its records were read; reports what was left out
  void publish_counts() noexcept;
  void publish_unread() noexcept;  // any thread: tells the host what is missing, however the process ends
  void wake() noexcept;
  void set_phase(channel::AgentPhase phase) noexcept;

  Library library_;
  channel::SharedMemory memory_;
  Buffers buffers_;
  encode::ClockMap clocks_;
  // For one session, including its dictionaries. After a fault in their code they are not used again.
  std::optional<encode::FrameWriter> frames_;
  std::optional<encode::EventEncoder> events_;
  std::optional<RecordReader> records_;
  KernelProfiler kernels_;
  CUpti_SubscriberHandle subscriber_ = nullptr;

  struct Session {
    channel::SharedMemory memory;
    std::uint32_t process_instance = 0;
  };
  Lock next_lock_;
  std::optional<Session> next_;                                  // set by follow()
  std::atomic<const channel::SharedHeader*> followed_{nullptr};  // of the last session that was begun

  std::atomic<bool> has_thread_{false};
  std::atomic<std::uint32_t> own_thread_{0};           // kernel thread id
  std::atomic<channel::SharedHeader*> bell_{nullptr};  // of the session whose bell wakes our thread
  std::atomic<std::uint32_t> finish_wanted_{0};
  std::atomic<std::uint32_t> finished_{0};  // futex: finish() sleeps on it
  std::atomic<std::uint32_t> handovers_wanted_{0};
  std::atomic<std::uint32_t> handovers_{0};          // futex: hand_over() sleeps on it
  std::atomic<std::uint64_t> discarded_records_{0};  // of buffers for which there was no room (CUPTI before 12.9)
  std::uint64_t dropped_by_cupti_ = 0;
  std::int64_t next_flush_ = 0;
  std::int64_t next_clock_ = 0;
  std::uint32_t answered_stops_ = 0;
  std::uint32_t answered_handovers_ = 0;
  EventChoice choice_;
  std::uint32_t backtraces_ = 0;  // channel::CallGroup bits
  std::atomic<bool> is_recording_{false};
  std::atomic<bool> driver_is_up_{false};
  bool follows_unified_memory_ = false;   // since recording began: at least tried
  bool has_told_ = false;                 // that GPU activity is recorded, in this session
  bool has_handed_over_ = false;          // since recording began
  std::atomic<bool> is_over_{false};      // the session is gone, or its records can't be read
  std::atomic<bool> has_faulted_{false};  // CUPTI, or our own thread
  bool is_without_cupti_ = false;         // known to our own thread
  bool has_ended_ = false;                // the work of our own thread
};

}  // namespace lanescope::agent::cupti
