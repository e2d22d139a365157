// Packs the activity of one process into chunks: states and samples of its threads, its system calls and tracepoints, and the dictionaries that these
// refer to.
//
// One chunk is being filled for each thread and kind; flush() emits them all. New dictionary entries go with the next chunk that is emitted.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "code/modules.h"
#include "collector/cpu/remembered_ids.h"
#include "lanescope/trace.pb.h"
#include "thread_states.h"

namespace lanescope::cpu {

// NVTX domains of events that are seen from outside. Agents number their domains from 1.
inline constexpr std::uint32_t kSystemCallDomain = 0x7fff'0001;
inline constexpr std::uint32_t kTracepointDomain = 0x7fff'0002;

// A function of an interpreter: it has a name but no address.
struct InterpretedFunction {
  std::string_view function;
  std::string_view source_file;
  std::uint32_t source_line = 0;
};

// Code that was seen to run and has no name yet.
struct UnnamedCode {
  std::uint32_t location = 0;      // id in this process
  const Module* module = nullptr;  // null: the code is in no known file
  std::uint64_t address = 0;
};

class ProcessEncoder {
 public:
  using EmitChunk = std::function<void(proto::EventChunk& chunk, std::uint32_t events)>;
  ProcessEncoder(std::uint64_t sample_period, EmitChunk emit) : sample_period_(sample_period), emit_(std::move(emit)) {}

  // Returns ids for use in this process only; 0 for nothing.
  std::uint32_t string(std::string_view text);
  std::uint32_t location(const Place& place);
  std::uint32_t location(const InterpretedFunction& function);
  std::uint32_t call(std::uint32_t caller, std::uint32_t location);

  void add(const StateInterval& interval);
  void add_sample(ThreadNumber thread, std::int64_t time, std::uint32_t processor, std::uint32_t call);
  void add_backtrace(ThreadNumber thread, proto::SampleOrigin origin, std::int64_t time, std::uint64_t duration, std::uint32_t correlation, std::uint32_t call);
  // `result`: nothing if the call had not returned when the thread or the recording ended.
  void add_system_call(ThreadNumber thread, std::int64_t start, std::int64_t end, std::string_view name, std::optional<std::int64_t> result);
  void add_tracepoint(ThreadNumber thread, std::int64_t time, std::string_view name, std::string_view values_as_json);
  void flush();

  [[nodiscard]] bool has_events() const noexcept { return pending_events_ > 0; }
  [[nodiscard]] std::uint64_t produced() const noexcept { return produced_; }
  // At most two million places.
  [[nodiscard]] const std::vector<UnnamedCode>& unnamed_code() const noexcept { return unnamed_; }
  // Takes the strings that were made since the last chunk, for a message that is not a chunk.
  std::uint32_t take_strings(google::protobuf::RepeatedPtrField<std::string>& strings);

 private:
  struct Chunk {
    proto::EventChunk message;
    std::uint32_t events = 0;
    std::int64_t last_time = 0;
    std::uint32_t last_correlation = 0;
  };
  enum class Kind : std::uint8_t { kStates, kSamples, kCudaCalls, kOsCalls, kSystemCalls, kTracepoints };

  template <typename Columns>
  void begin_event(Chunk& chunk, Columns& columns, ThreadNumber thread, std::int64_t time);
  void count(Chunk& chunk);
  void emit(Chunk& chunk);

  std::uint64_t sample_period_;  // ns
  EmitChunk emit_;
  std::map<std::pair<Kind, ThreadNumber>, Chunk> chunks_;
  std::uint64_t pending_events_ = 0;
  std::uint64_t produced_ = 0;

  // Repeated entries are recognised; memory for this is limited to these budgets.
  static constexpr std::size_t kTextBudget = 16u << 20;
  static constexpr std::size_t kCodeBudget = 64u << 20;
  static constexpr std::size_t kMostUnnamed = 2'000'000;
  struct HashCode {
    static std::uint64_t number(std::uint64_t word) noexcept { return word; }
    static std::uint64_t number(const void* pointer) noexcept { return reinterpret_cast<std::uintptr_t>(pointer); }
    template <typename... Words>
    std::size_t operator()(const std::tuple<Words...>& key) const noexcept {
      std::size_t hash = 0;
      const auto mix = [&hash](std::uint64_t word) { hash = (hash ^ word) * 0x9e3779b97f4a7c15; };
      std::apply([&mix](const auto&... words) { (mix(number(words)), ...); }, key);
      return hash ^ hash >> 32;
    }
  };
  RememberedTexts strings_{kTextBudget};
  RememberedIds<std::tuple<const Module*, std::uint64_t>, HashCode> locations_{kCodeBudget};
  RememberedIds<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, HashCode> interpreted_{kCodeBudget};  // function, file, line
  RememberedIds<std::uint64_t> calls_{kCodeBudget};                                                            // caller << 32 | location
  std::uint32_t string_count_ = 0;
  std::uint32_t location_count_ = 0;
  std::uint32_t call_count_ = 0;
  std::vector<UnnamedCode> unnamed_;

  // Not yet in any message; they have the highest ids.
  std::vector<std::string> new_strings_;
  std::vector<proto::CodeLocation> new_locations_;
  std::vector<proto::CallNode> new_calls_;
};

}  // namespace lanescope::cpu
