// Ranges and marks of a Chrome trace, also those that come as two events.
#include <algorithm>
#include <bit>

#include "chrome_assembly.h"
#include "chrome_categories.h"

namespace lanescope::importers {

DetailId ChromeAssembly::range_detail(const ChromeEvent& event) {
  NvtxDetail detail;
  const Category known = category_of(event.category);
  if (known == Category::kGeneric) detail.category = category(event.category);
  if (event.arguments.bytes && event.phase != 'X') {
    detail.payload_type = PayloadType::kSigned;
    detail.payload = std::bit_cast<std::uint64_t>(*event.arguments.bytes);
  }
  return builder_.intern(detail);
}

void ChromeAssembly::add_range(const ChromeEvent& event, TrackKind kind, std::uint32_t domain) {
  GroupKey key;
  key.kind = kind;
  key.source = source(event.pid);
  key.thread = thread(key.source, event.tid);
  key.domain = domain;
  if (domain == kOperatorDomain || event.category == kUserCategory) {
    from_pytorch_ = true;
    sources_[key.source].has_host_work = true;
  }
  group(key).push_back({event.time, event.duration, builder_.intern(event.name), 0, range_detail(event)});
}

void ChromeAssembly::add_mark(const ChromeEvent& event) {
  see(event.time, event.time);
  GroupKey key;
  key.kind = TrackKind::kNvtxMarks;
  key.source = source(event.pid);
  key.thread = thread(key.source, event.tid);
  if (event.name == "[memory]") key.domain = kMemoryDomain;
  if (event.category == kUserCategory) sources_[key.source].has_host_work = true;
  group(key).push_back({event.time, 0, builder_.intern(event.name), 0, range_detail(event)});
}

void ChromeAssembly::add_edge(const ChromeEvent& event) {
  see(event.time, event.time);
  Edge edge;
  edge.begins = event.phase == 'B' || event.phase == 'b' || event.phase == 'S';
  edge.thread = thread(source(event.pid), event.tid);
  if (event.category == kUserCategory) sources_[threads_[edge.thread].source].has_host_work = true;
  edge.name = builder_.intern(event.name);
  edge.detail = range_detail(event);
  edge.time = event.time;
  if (event.phase == 'B' || event.phase == 'E') {
    thread_edges_.push_back(edge);
  } else {
    // Asynchronous ranges belong together by category and id, on whichever thread they end.
    std::string key(event.category);
    key += '\0';
    key += event.id;
    if (event.id_of_process) key.append(1, '\0').append(event.pid);
    asynchronous_edges_[key].push_back(edge);
  }
}

void ChromeAssembly::match(std::vector<Edge>& edges, TrackKind kind) {
  std::stable_sort(edges.begin(), edges.end(), [](const Edge& a, const Edge& b) { return a.time < b.time; });
  std::vector<Edge> open;
  const auto place = [&](const Edge& begin, Nanoseconds end, DetailId detail) {
    GroupKey key;
    key.kind = kind;
    key.source = threads_[begin.thread].source;
    key.thread = begin.thread;
    group(key).push_back({begin.time, end - begin.time, begin.name, 0, detail});
  };
  // An end of a thread closes the innermost range, one that is asynchronous the innermost of its name.
  const auto is_closed_by = [&](const Edge& end) {
    return [&, by_name = kind == TrackKind::kNvtxProcessRanges && end.name != 0](const Edge& begin) {
      return !by_name || begin.name == end.name;
    };
  };
  for (const Edge& edge : edges) {
    if (edge.begins) {
      open.push_back(edge);
      continue;
    }
    const auto begin = std::find_if(open.rbegin(), open.rend(), is_closed_by(edge));
    if (begin == open.rend()) {
      ++ends_alone_;
      continue;
    }
    place(*begin, edge.time, begin->detail);
    open.erase(std::next(begin).base());
  }
  for (const Edge& begin : open) {
    NvtxDetail detail;
    detail.finished = Finished::kNo;
    place(begin, end_, builder_.intern(detail));
  }
}

void ChromeAssembly::close_edges() {
  std::map<std::uint32_t, std::vector<Edge>> by_thread;
  for (const Edge& edge : thread_edges_) by_thread[edge.thread].push_back(edge);
  thread_edges_.clear();
  for (auto& [thread, edges] : by_thread) match(edges, TrackKind::kNvtxRanges);
  for (auto& [id, edges] : asynchronous_edges_) match(edges, TrackKind::kNvtxProcessRanges);
}

}  // namespace lanescope::importers
