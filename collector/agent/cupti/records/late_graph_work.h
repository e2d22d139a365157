// Work of CUDA graphs that is read after recording stopped. It is held until it is known which of its ends are true.
//
// A node of a graph has one place for its times, which the next launch of the graph reuses. The last launch while records were requested is read some
// milliseconds after the request ends. If the program goes on launching the same graph, it has overwritten the ends by then, but not the starts. (CUPTI 13.0,
// H200, four recordings of a program that was attached to: the 20 kernels of the last launch, of 2 to 5 µs each, ended 1.9 to 4.2 ms after they began, in steps
// of true kernels. Those of all earlier launches were right.)
//
// If work follows on other work, the true end of the first lies before the start of the second, but ends of a later launch lie after all starts. So if the last
// work of each node of a graph ended after recording stopped, and after the last of it had begun, its ends are not believed. This also affects work that really
// ran all at once when recording stopped: it can't be told apart. Numbers of launches are not used, because CUPTI may give many launches the same.
//
// Times are those of the events. One thread.
#pragma once

#include <cstdint>

#include "agent/core/memory/page_buffer.h"
#include "agent/encode/events.h"

namespace lanescope::agent::cupti {

class LateGraphWork {
 public:
  // Recording stopped at this time: work that is read from here on is held.
  void begin(std::int64_t stop) noexcept {
    stop_ = stop;
    is_holding_ = true;
  }
  // Work that is read from here on is not held. Work that is held already stays so until release().
  void end() noexcept { is_holding_ = false; }

  // True if the work was taken. False while nothing is held, for work that is not of a graph, and if there is no memory: such work is shown as it is.
  bool hold(const encode::Kernel& kernel) noexcept { return hold(kernels_, kernel); }
  bool hold(const encode::Copy& copy) noexcept { return hold(copies_, copy); }
  bool hold(const encode::Set& set) noexcept { return hold(sets_, set); }

  // Call when all records were read, because the work of a graph is judged together. Calls `add` for held work whose end can be believed, and drops all the
  // rest. Returns the number of dropped ones. O(n log n).
  template <typename Add>
  std::uint64_t release(const Add& add) noexcept {
    find_last_work();
    const std::uint64_t left_out = give(kernels_, add) + give(copies_, add) + give(sets_, add);
    nodes_.clear();
    graphs_.clear();
    return left_out;
  }

 private:
  // The last work of a node of a graph.
  struct Node {
    std::uint32_t graph;
    std::uint64_t node;
    std::int64_t last_start;
    std::int64_t last_end;  // of the work that began at last_start
  };
  // Summary of the last work of a graph's nodes.
  struct Graph {
    std::uint32_t graph;
    std::int64_t first_end;
    std::int64_t last_start;
  };

  template <typename Work>
  bool hold(PageArray<Work>& held, const Work& work) noexcept {
    if (!is_holding_ || work.graph.node == 0) return false;
    const std::int64_t end = work.time.start + static_cast<std::int64_t>(work.time.duration);
    return nodes_.push_back({work.graph.graph, work.graph.node, work.time.start, end}) && held.push_back(work);
  }
  // Merges the elements of nodes_ that belong to the same node, and makes graphs_ from them. Both are sorted. If there is no memory, all ends are believed.
  void find_last_work() noexcept;
  [[nodiscard]] bool has_true_end(const encode::GraphPlace& place, std::int64_t start) const noexcept;

  template <typename Work, typename Add>
  std::uint64_t give(PageArray<Work>& held, const Add& add) noexcept {
    std::uint64_t left_out = 0;
    for (std::size_t i = 0; i < held.size(); ++i) {
      if (has_true_end(held[i].graph, held[i].time.start))
        add(held[i]);
      else
        ++left_out;
    }
    held.clear();
    return left_out;
  }

  std::int64_t stop_ = 0;
  bool is_holding_ = false;
  PageArray<encode::Kernel> kernels_;
  PageArray<encode::Copy> copies_;
  PageArray<encode::Set> sets_;
  PageArray<Node> nodes_;  // one for each held work, later one for each node
  std::size_t node_count_ = 0;
  PageArray<Graph> graphs_;
};

}  // namespace lanescope::agent::cupti
