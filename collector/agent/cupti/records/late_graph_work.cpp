#include "agent/cupti/records/late_graph_work.h"

#include <algorithm>
#include <span>
#include <tuple>

namespace lanescope::agent::cupti {
namespace {

constexpr auto place_of = [](const auto& node) { return std::tuple(node.graph, node.node); };
constexpr auto place_and_time_of = [](const auto& node) { return std::tuple(node.graph, node.node, node.last_start); };
constexpr auto graph_of = [](const auto& graph) { return graph.graph; };

}  // namespace

void LateGraphWork::find_last_work() noexcept {
  node_count_ = 0;
  if (nodes_.size() == 0) return;
  const std::span nodes(&nodes_[0], nodes_.size());
  std::ranges::sort(nodes, {}, place_and_time_of);
  for (const Node& next : nodes) {
    if (node_count_ != 0 && place_of(nodes[node_count_ - 1]) == place_of(next)) --node_count_;
    nodes[node_count_++] = next;
  }
  for (const Node& node : nodes.first(node_count_)) {
    if (graphs_.size() == 0 || graphs_[graphs_.size() - 1].graph != node.graph) {
      if (!graphs_.push_back({node.graph, node.last_end, node.last_start})) return graphs_.clear();
      continue;
    }
    Graph& graph = graphs_[graphs_.size() - 1];
    graph.first_end = std::min(graph.first_end, node.last_end);
    graph.last_start = std::max(graph.last_start, node.last_start);
  }
}

bool LateGraphWork::has_true_end(const encode::GraphPlace& place, std::int64_t start) const noexcept {
  if (graphs_.size() == 0) return true;
  const std::span nodes(&nodes_[0], node_count_);
  const auto node = std::ranges::lower_bound(nodes, std::tuple(place.graph, place.node), {}, place_of);
  if (node->last_start != start) return true;
  const std::span graphs(&graphs_[0], graphs_.size());
  const auto graph = std::ranges::lower_bound(graphs, place.graph, {}, graph_of);
  return graph->first_end <= stop_ || graph->first_end <= graph->last_start;
}

}  // namespace lanescope::agent::cupti
