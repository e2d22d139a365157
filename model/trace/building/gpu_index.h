// GPUs by what tells them apart: their uuid, else their name and number. One without a name fits any of its number.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "model/trace/trace.h"

namespace lanescope {

class GpuIndex {
 public:
  // The first GPU that may be the one described; kNone if there is none.
  [[nodiscard]] GpuId find(const Gpu& wanted) const {
    GpuId found = kNone;
    if (!wanted.uuid.empty()) found = std::min(found, first(by_uuid_, wanted.uuid));
    // Two GPUs that both have a uuid are compared only by it.
    const auto& comparable = wanted.uuid.empty() ? all_ : without_uuid_;
    if (const auto of_ordinal = comparable.find(wanted.ordinal); of_ordinal != comparable.end()) {
      if (wanted.name.empty()) {
        found = std::min(found, *of_ordinal->second.ids.begin());
      } else {
        found = std::min({found, first(of_ordinal->second.by_name, wanted.name), first(of_ordinal->second.by_name, std::string())});
      }
    }
    return found;
  }
  void add(GpuId id, const Gpu& gpu) {
    if (!gpu.uuid.empty()) by_uuid_[gpu.uuid].insert(id);
    all_[gpu.ordinal].add(id, gpu.name);
    if (gpu.uuid.empty()) without_uuid_[gpu.ordinal].add(id, gpu.name);
  }
  void remove(GpuId id, const Gpu& gpu) {
    if (!gpu.uuid.empty()) by_uuid_[gpu.uuid].erase(id);
    remove(all_, id, gpu);
    if (gpu.uuid.empty()) remove(without_uuid_, id, gpu);
  }

 private:
  using Ids = std::set<GpuId>;
  struct OfOrdinal {
    Ids ids;
    std::map<std::string, Ids> by_name;
    void add(GpuId id, const std::string& name) {
      ids.insert(id);
      by_name[name].insert(id);
    }
  };
  using ByOrdinal = std::map<std::uint32_t, OfOrdinal>;
  static void remove(ByOrdinal& gpus, GpuId id, const Gpu& gpu) {
    OfOrdinal& of_ordinal = gpus[gpu.ordinal];
    of_ordinal.ids.erase(id);
    of_ordinal.by_name[gpu.name].erase(id);
    if (of_ordinal.ids.empty()) gpus.erase(gpu.ordinal);
  }
  [[nodiscard]] static GpuId first(const std::map<std::string, Ids>& ids, const std::string& key) {
    const auto found = ids.find(key);
    return found == ids.end() || found->second.empty() ? kNone : *found->second.begin();
  }

  std::map<std::string, Ids> by_uuid_;
  ByOrdinal all_;
  ByOrdinal without_uuid_;
};

}  // namespace lanescope
