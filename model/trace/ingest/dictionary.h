// What the ids in chunks of one (process, source) stand for: strings, launch shapes, queues, ... as the chunks so far have defined them.
#pragma once

#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

#include "lanescope/trace.pb.h"
#include "model/trace/counter.h"
#include "model/trace/kernel_records.h"
#include "model/trace/types.h"

namespace lanescope {

class TraceBuilder;

struct KernelName {
  NameId name = 0;
  NameId mangled = 0;
  NameId brief = 0;
};
// Remembers the details of launches that are repeated. One may push another out: it is then interned again.
class DetailCache {
 public:
  struct Launch {
    std::uint32_t shape = 0;
    std::uint32_t name = 0;
    std::uint32_t graph = 0;
    std::uint64_t graph_node = 0;
    bool operator==(const Launch&) const = default;
  };
  template <typename Compute>
  DetailId find(const Launch& launch, Compute compute) {
    const std::uint64_t hash = ((std::uint64_t{launch.shape} << 32 | launch.name) ^ launch.graph_node * 0xff51afd7ed558ccdull) + launch.graph;
    if (slots_.empty()) resize(kFewestBits);
    Slot& slot = slots_[(hash * 0x9e3779b97f4a7c15ull) >> (64 - bits_)];
    if (slot.known && slot.launch == launch) return slot.detail;
    // Most sources launch little, or nothing: room comes with what is launched.
    if (++computed_ > slots_.size() && bits_ < kMostBits) {
      resize(bits_ + 2);
      return find(launch, compute);
    }
    slot = {launch, compute(), true};
    return slot.detail;
  }
  [[nodiscard]] std::size_t memory_bytes() const noexcept { return slots_.capacity() * sizeof(Slot); }

 private:
  static constexpr int kFewestBits = 5, kMostBits = 13;
  struct Slot {
    Launch launch;
    DetailId detail = 0;
    bool known = false;
  };
  void resize(int bits) {
    bits_ = bits;
    slots_.assign(std::size_t{1} << bits, {});
  }
  std::vector<Slot> slots_;
  std::size_t computed_ = 0;
  int bits_ = 0;
};

// Entries by their ids, which count up from 1. Where chunks were lost, ids follow behind a gap: in front of a large one the memory is that
// of the entries, whatever their ids. O(1), and fast where there is no such gap.
template <typename Entry>
class EntryTable {
 public:
  // The entry of an id; the default, which stands for nothing known, for an id that was never defined.
  [[nodiscard]] const Entry& operator[](std::uint32_t id) const noexcept {
    if (id < near_.size()) return near_[id];
    if (far_.empty()) return nothing();
    const auto found = far_.find(id);
    return found == far_.end() ? nothing() : found->second;
  }
  // To be written. Requires: id > 0. Valid until the next call.
  [[nodiscard]] Entry& place(std::uint32_t id) {
    constexpr std::size_t kSmallGap = 256;
    ++placed_;
    const bool follows = far_.empty() && id <= 2 * placed_ + kSmallGap;
    if (follows && id >= near_.size()) near_.resize(id + std::size_t{1});
    return id < near_.size() ? near_[id] : far_[id];
  }
  [[nodiscard]] std::size_t memory_bytes() const noexcept {
    constexpr std::size_t kNodeBytes = 48;
    return near_.capacity() * sizeof(Entry) + far_.size() * (sizeof(Entry) + kNodeBytes);
  }

 private:
  [[nodiscard]] static const Entry& nothing() noexcept {
    static const Entry entry{};
    return entry;
  }
  std::vector<Entry> near_;
  std::unordered_map<std::uint32_t, Entry> far_;  // all behind the first large gap
  std::size_t placed_ = 0;
};

struct Dictionary {
  EntryTable<NameId> strings;
  EntryTable<KernelName> kernel_names;  // by string id; filled where a string is first used as a kernel's name
  EntryTable<KernelName> given_names;   // by kernel name id: as the source of an imported trace has them
  EntryTable<proto::LaunchShape> shapes;
  EntryTable<proto::Queue> queues;
  EntryTable<proto::CopyShape> copy_shapes;
  EntryTable<CodeLocationId> code_locations;
  EntryTable<CallNodeId> call_nodes;
  EntryTable<GpuFunctionId> gpu_functions;           // one more than the id, so that 0 is none
  EntryTable<std::uint32_t> stall_reasons;           // likewise
  EntryTable<CounterId> counters;                    // one more than the id, so that 0 is none
  std::map<CounterId, std::uint32_t> id_of_counter;  // which of the source's it is
  DetailCache kernels;                               // by string id
  DetailCache given_kernels;                         // by kernel name id

  [[nodiscard]] std::size_t memory_bytes() const noexcept {
    const auto of = [](const auto&... tables) { return (tables.memory_bytes() + ...); };
    constexpr std::size_t kNodeBytes = 80;
    return sizeof(*this) + id_of_counter.size() * kNodeBytes +
           of(strings, kernel_names, given_names, shapes, queues, copy_shapes, code_locations, call_nodes, gpu_functions, stall_reasons, counters, kernels,
              given_kernels);
  }
};

// Readable names of kernels by their mangled ones, whichever source these are of.
class KernelNames {
 public:
  const KernelName& of(NameId mangled, TraceBuilder& builder);
  // Bytes that they take, and for the work of demangling as many as take that long to fill.
  [[nodiscard]] std::uint64_t cost() const noexcept { return cost_; }

 private:
  std::unordered_map<NameId, KernelName> names_;
  std::uint64_t cost_ = 0;
};

// Adds what a chunk is first to use. False when an id makes no sense.
[[nodiscard]] bool extend(Dictionary& dictionary, const proto::EventChunk& chunk, TraceBuilder& builder);

// The same for strings alone, as other messages than chunks bring them.
[[nodiscard]] bool extend_strings(Dictionary& dictionary, std::uint32_t first, const google::protobuf::RepeatedPtrField<std::string>& strings,
                                  TraceBuilder& builder);

// What PC samples are first to use.
[[nodiscard]] bool extend(Dictionary& dictionary, ProcessId process, const proto::PcSamples& samples, KernelNames& kernel_names, TraceBuilder& builder);

}  // namespace lanescope
