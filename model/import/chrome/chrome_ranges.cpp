// Ranges and marks of a Chrome trace, also those that come as two events.
#include <algorithm>
#include <bit>
#include <span>

#include "chrome_assembly.h"
#include "chrome_categories.h"

namespace lanescope::importers {

// Ranges that have begun and not ended, by the positions of their begins. Each is closed in O(1), whatever is open besides.
class ChromeAssembly::OpenRanges {
 public:
  explicit OpenRanges(std::span<const Edge> edges) : edges_(edges), is_open_(edges.size()) {}

  void begin(std::size_t position) {
    is_open_[position] = true;
    innermost_.push_back(position);
    innermost_of_name_[edges_[position].name].push_back(position);
  }
  // The innermost; none where nothing is open.
  std::optional<std::size_t> close() { return close_last(innermost_); }
  std::optional<std::size_t> close(NameId name) {
    const auto found = innermost_of_name_.find(name);
    return found == innermost_of_name_.end() ? std::nullopt : close_last(found->second);
  }
  // What is open still, in the order of its begins.
  [[nodiscard]] std::vector<std::size_t> rest() const {
    std::vector<std::size_t> open;
    for (const std::size_t position : innermost_)
      if (is_open_[position]) open.push_back(position);
    return open;
  }

 private:
  std::optional<std::size_t> close_last(std::vector<std::size_t>& positions) {
    while (!positions.empty()) {
      const std::size_t position = positions.back();
      positions.pop_back();
      if (!is_open_[position]) continue;  // it was closed by way of the other list
      is_open_[position] = false;
      return position;
    }
    return std::nullopt;
  }

  std::span<const Edge> edges_;
  std::vector<bool> is_open_;  // by position
  std::vector<std::size_t> innermost_;
  std::unordered_map<NameId, std::vector<std::size_t>> innermost_of_name_;
};

DetailId ChromeAssembly::range_detail(const ChromeEvent& event, std::uint32_t source) {
  NvtxDetail detail;
  const Category known = category_of(event.category);
  if (known == Category::kGeneric) detail.category = category(event.category);
  if (detail.category != 0 && used_categories_.insert({source, detail.category}).second) kept_ += cost::kName + cost::kTextCopies * event.category.size();
  if (event.arguments.bytes && event.phase != 'X') {
    detail.payload_type = PayloadType::kSigned;
    detail.payload = std::bit_cast<std::uint64_t>(*event.arguments.bytes);
  }
  return intern(detail);
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
  group(key).push_back({event.time, event.duration, intern(event.name), 0, range_detail(event, key.source)});
}

void ChromeAssembly::add_mark(const ChromeEvent& event) {
  see(event.time, event.time);
  GroupKey key;
  key.kind = TrackKind::kNvtxMarks;
  key.source = source(event.pid);
  key.thread = thread(key.source, event.tid);
  if (event.name == "[memory]") key.domain = kMemoryDomain;
  if (event.category == kUserCategory) sources_[key.source].has_host_work = true;
  group(key).push_back({event.time, 0, intern(event.name), 0, range_detail(event, key.source)});
}

void ChromeAssembly::add_edge(const ChromeEvent& event) {
  see(event.time, event.time);
  Edge edge;
  edge.begins = event.phase == 'B' || event.phase == 'b' || event.phase == 'S';
  edge.thread = thread(source(event.pid), event.tid);
  if (event.category == kUserCategory) sources_[threads_[edge.thread].source].has_host_work = true;
  edge.name = intern(event.name);
  edge.detail = range_detail(event, threads_[edge.thread].source);
  edge.time = event.time;
  if (event.phase == 'B' || event.phase == 'E') {
    thread_edges_.push_back(edge);
  } else {
    // Asynchronous ranges belong together by category and id, on whichever thread they end.
    std::string key(event.category);
    key += '\0';
    key += event.id;
    if (event.id_of_process) key.append(1, '\0').append(event.pid);
    std::vector<Edge>& of_id = asynchronous_edges_[key];
    if (of_id.empty()) kept_ += cost::kName + key.size();
    of_id.push_back(edge);
  }
}

void ChromeAssembly::match(std::vector<Edge>& edges, TrackKind kind) {
  std::stable_sort(edges.begin(), edges.end(), [](const Edge& a, const Edge& b) { return a.time < b.time; });
  const auto place = [&](const Edge& begin, Nanoseconds end, DetailId detail) {
    GroupKey key;
    key.kind = kind;
    key.source = threads_[begin.thread].source;
    key.thread = begin.thread;
    group(key).push_back({begin.time, end - begin.time, begin.name, 0, detail});
  };
  OpenRanges open(edges);
  for (std::size_t i = 0; i < edges.size(); ++i) {
    if (edges[i].begins) {
      open.begin(i);
      continue;
    }
    // An end of a thread closes the innermost range, one that is asynchronous the innermost of its name.
    const bool by_name = kind == TrackKind::kNvtxProcessRanges && edges[i].name != 0;
    const auto begin = by_name ? open.close(edges[i].name) : open.close();
    if (begin)
      place(edges[*begin], edges[i].time, edges[*begin].detail);
    else
      ++ends_alone_;
  }
  for (const std::size_t begin : open.rest()) {
    NvtxDetail detail;
    detail.finished = Finished::kNo;
    place(edges[begin], end_, intern(detail));
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
