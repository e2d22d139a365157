// The meaning of the ids in chunks of one (process, source): strings, launch shapes, queues, ... as the chunks so far have defined them.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <type_traits>
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
// Remembers the details of repeated launches. An entry may replace another one, which is then interned again.
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
    // Most sources launch little or nothing, so memory is allocated as launches come.
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

// Entries by their ids, which count up from 1. If chunks were lost, there is a gap in the ids. After a large gap the memory is that of the entries,
// whatever their ids. O(1), and fast if there is no such gap.
template <typename Entry>
class EntryTable {
 public:
  // The entry of an id; for an id that was never defined, the default, which stands for nothing known.
  [[nodiscard]] const Entry& operator[](std::uint32_t id) const noexcept {
    if (id < near_.size()) return near_[id];
    if (far_.empty()) return nothing();
    const auto found = far_.find(id);
    return found == far_.end() ? nothing() : found->second;
  }
  // Replaces each id by its entry.
  void replace(std::span<std::uint32_t> ids) const noexcept requires std::is_same_v<Entry, std::uint32_t> {
    const Entry* const near = near_.data();
    const std::size_t size = near_.size();
    for (std::uint32_t& id : ids) id = id < size ? near[id] : (*this)[id];
  }
  // The entry, for writing. Requires: id > 0. Valid until the next call.
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
  std::unordered_map<std::uint32_t, Entry> far_;  // all entries after the first large gap
  std::size_t placed_ = 0;
};

struct Dictionary {
  EntryTable<NameId> strings;
  EntryTable<KernelName> kernel_names;  // by string id; filled when a string is first used as a kernel's name
  EntryTable<KernelName> given_names;   // by kernel name id: as given by the source of an imported trace
  EntryTable<proto::LaunchShape> shapes;
  EntryTable<proto::Queue> queues;
  EntryTable<proto::CopyShape> copy_shapes;
  EntryTable<CodeLocationId> code_locations;
  EntryTable<CallNodeId> call_nodes;
  EntryTable<GpuFunctionId> gpu_functions;           // id plus one, so that 0 is none
  EntryTable<std::uint32_t> stall_reasons;           // id plus one, so that 0 is none
  EntryTable<CounterId> counters;                    // id plus one, so that 0 is none
  std::map<CounterId, std::uint32_t> id_of_counter;  // the counter's id in this source
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

// Readable names of kernels by their mangled names, for all sources together.
class KernelNames {
 public:
  const KernelName& of(NameId mangled, TraceBuilder& builder);
  // Bytes of the names, plus bytes for the work of demangling: as many as can be filled in that time.
  [[nodiscard]] std::uint64_t cost() const noexcept { return cost_; }

 private:
  std::unordered_map<NameId, KernelName> names_;
  std::uint64_t cost_ = 0;
};

// Adds the definitions in a chunk, which come before their first use. Returns false if an id makes no sense.
[[nodiscard]] bool extend(Dictionary& dictionary, const proto::EventChunk& chunk, TraceBuilder& builder);

// The same for strings only, as messages other than chunks have them.
[[nodiscard]] bool extend_strings(Dictionary& dictionary, std::uint32_t first, const google::protobuf::RepeatedPtrField<std::string>& strings,
                                  TraceBuilder& builder);

// The same for PC samples.
[[nodiscard]] bool extend(Dictionary& dictionary, ProcessId process, const proto::PcSamples& samples, KernelNames& kernel_names, TraceBuilder& builder);

}  // namespace lanescope
