// Rows of counters: those of a GPU below the GPU, in groups; those of a process below the process; those of the machine below a row of their own.
#include <algorithm>

#include "row_tree_builder.h"

namespace lanescope::timeline {

std::vector<CounterId> RowTreeBuilder::counters_of(GpuId gpu, ProcessId process) const {
  std::vector<CounterId> found;
  const std::span<const CounterId> known = gpu != kNone ? counters_of_gpu_[gpu] : counters_.positions(process);
  for (const CounterId id : known) {
    const bool in_part = part_.first_counter <= id && id < part_.end_counter;
    if (trace_.counters()[id].gpu == gpu && in_part && !trace_.counter_series(id).empty()) found.push_back(id);
  }
  return found;
}

void RowTreeBuilder::add_counter(RowIndex parent, const std::string& key, CounterId id) {
  const Counter& counter = trace_.counters()[id];
  const bool tells_process = counters_of_several_.contains({counter.gpu, counter.name}) && counter.gpu != kNone && counter.process != kNone;
  const std::string owner = tells_process ? "  [" + std::to_string(trace_.processes()[counter.process].pid) + "]" : "";
  const std::string of_process = counter.process != kNone ? process_key(counter.process) + "/" : "";
  const RowIndex row = add_row(key + "/" + of_process + counter.name,
                               owner.empty() ? Message(std::string_view(counter.name)) : Message::verbatim(counter.name + owner), RowKind::kCounter, parent);
  tree_.rows_[row].counter = id;
}

void RowTreeBuilder::add_machine() {
  const std::vector<CounterId> counters = counters_of(kNone, kNone);
  if (counters.empty()) return;
  const std::string key = part_.key + "machine";
  add_counters(add_row(key, "Machine", RowKind::kCounters, part_.heading), key, counters);
}

// Groups have the order in which their first counters were defined; the first two are expanded. Counters that were sampled of the whole GPU have a common
// heading; counters of a process do not. The heading is collapsed initially if threads that call CUDA or set ranges are below it, because users look for those.
void RowTreeBuilder::add_counters(RowIndex parent, const std::string& key, const std::vector<CounterId>& counters) {
  constexpr std::size_t kOpenGroups = 2;
  struct Group {
    bool is_of_metrics;
    std::string name;
    std::vector<CounterId> counters;
  };
  std::vector<Group> groups;
  std::map<std::pair<bool, std::string_view>, std::size_t> places;
  for (const CounterId id : counters) {
    const Counter& counter = trace_.counters()[id];
    const bool is_metric = counter.gpu != kNone && counter.process == kNone;
    const auto [place, is_new] = places.try_emplace({is_metric, counter.group}, groups.size());
    if (is_new) groups.push_back({is_metric, counter.group, {}});
    groups[place->second].counters.push_back(id);
  }
  std::stable_partition(groups.begin(), groups.end(), [](const Group& group) { return group.is_of_metrics; });
  std::optional<RowIndex> metrics;
  std::size_t named = 0;
  for (const Group& group : groups) {
    if (group.is_of_metrics && !metrics) {
      metrics = add_row(key + "/metrics", "GPU metrics", RowKind::kCounters, parent);
      tree_.rows_[*metrics].expanded_initially = !has_marked_threads_;
    }
    RowIndex above = group.is_of_metrics ? *metrics : parent;
    std::string group_key = group.is_of_metrics ? key + "/metrics" : key;
    if (!group.name.empty()) {
      group_key += "/" + group.name;
      above = add_row(group_key, Message(std::string_view(group.name)), RowKind::kCounters, above);
      tree_.rows_[above].expanded_initially = named++ < kOpenGroups;
    }
    for (const CounterId id : group.counters) add_counter(above, group_key, id);
  }
}

}  // namespace lanescope::timeline
