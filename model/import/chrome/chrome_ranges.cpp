// Ranges and marks of a Chrome trace, including ranges that consist of two events.
#include <algorithm>
#include <bit>
#include <charconv>
#include <span>

#include "chrome_assembly.h"
#include "chrome_categories.h"

namespace lanescope::importers {

// Ranges without an end so far, by the positions of their begins. Closing a range is O(1), independent of other open ranges.
class ChromeAssembly::OpenRanges {
 public:
  explicit OpenRanges(std::span<const Edge> edges) : edges_(edges), is_open_(edges.size()) {}

  void begin(std::size_t position) {
    is_open_[position] = true;
    innermost_.push_back(position);
    innermost_of_name_[edges_[position].name].push_back(position);
  }
  // Closes the innermost range; nothing if none is open.
  std::optional<std::size_t> close() { return close_last(innermost_); }
  std::optional<std::size_t> close(NameId name) {
    const auto found = innermost_of_name_.find(name);
    return found == innermost_of_name_.end() ? std::nullopt : close_last(found->second);
  }
  // The ranges that are still open, in the order of their begins.
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
      if (!is_open_[position]) continue;  // it was closed through the other list
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

void ChromeAssembly::use_category(std::uint32_t source, std::uint32_t domain, std::uint32_t id, std::string_view name) {
  const auto [known, is_new] = used_categories_.try_emplace({source, domain, id}, 0);
  if (!is_new) return;
  kept_ += cost::kName + cost::kTextCopies * name.size();
  known->second = intern(name);
}

std::uint32_t ChromeAssembly::named_domain(const ChromeEvent& event, std::uint32_t otherwise) {
  const std::string_view name = event.arguments.domain;
  if (name.empty() || event.category != kUserCategory) return otherwise;
  for (const auto& [id, known] : kDomainNames)
    if (known == name) return id;
  const auto found = domains_.find(name);
  if (found != domains_.end()) return found->second;
  kept_ += cost::kName + 2 * name.size();
  return domains_.emplace(name, static_cast<std::uint32_t>(kFirstNamedDomain + domains_.size())).first->second;
}

namespace {

// Reads the number in the type that our exports wrote.
void read_payload(const ChromeArguments& arguments, NvtxDetail& detail) {
  const std::string_view text = arguments.payload;
  const auto read = [&]<typename Number>(PayloadType type, Number number) {
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (failure != std::errc{} || end != text.data() + text.size()) return;
    detail.payload_type = type;
    detail.payload = std::bit_cast<std::uint64_t>(number);
  };
  if (arguments.payload_type == "signed") return read(PayloadType::kSigned, std::int64_t{0});
  if (arguments.payload_type == "real") return read(PayloadType::kReal, double{0});
  read(PayloadType::kUnsigned, std::uint64_t{0});
}

}  // namespace

NvtxDetail ChromeAssembly::range_detail(const ChromeEvent& event, std::uint32_t source, std::uint32_t domain) {
  NvtxDetail detail;
  const ChromeArguments& given = event.arguments;
  if (category_of(event.category) == Category::kGeneric) {
    detail.category = category(event.category);
    if (detail.category != 0) use_category(source, domain, detail.category, event.category);
  } else if (event.category == kUserCategory) {
    detail.category = given.category_id != 0 ? given.category_id : category(given.category);
    if (detail.category != 0 && given.category != std::to_string(detail.category)) use_category(source, domain, detail.category, given.category);
    detail.color = given.color;
    if (!given.payload_text.empty())
      detail.payload_json = intern(given.payload_text);
    else
      read_payload(given, detail);
  }
  if (given.bytes && event.phase != 'X') {
    detail.payload_type = PayloadType::kSigned;
    detail.payload = std::bit_cast<std::uint64_t>(*given.bytes);
  }
  return detail;
}

void ChromeAssembly::add_range(const ChromeEvent& event, TrackKind kind, std::uint32_t domain) {
  GroupKey key;
  key.kind = kind;
  key.source = source(event.pid);
  key.thread = thread(key.source, event.tid);
  key.domain = named_domain(event, domain);
  if (domain == kOperatorDomain || event.category == kUserCategory) {
    from_pytorch_ = true;
    sources_[key.source].has_host_work = true;
  }
  group(key).push_back({event.time, event.duration, intern(event.name), 0, intern(range_detail(event, key.source, key.domain))});
}

void ChromeAssembly::add_mark(const ChromeEvent& event) {
  see(event.time, event.time);
  GroupKey key;
  key.kind = TrackKind::kNvtxMarks;
  key.source = source(event.pid);
  key.thread = thread(key.source, event.tid);
  key.domain = event.name == "[memory]" ? std::uint32_t{kMemoryDomain} : named_domain(event, kUserDomain);
  if (event.category == kUserCategory) sources_[key.source].has_host_work = true;
  group(key).push_back({event.time, 0, intern(event.name), 0, intern(range_detail(event, key.source, key.domain))});
}

void ChromeAssembly::add_edge(const ChromeEvent& event) {
  constexpr Nanoseconds kLongest = Nanoseconds{1} << 61;  // as for times of events
  see(event.time, event.time);
  Edge edge;
  edge.begins = event.phase == 'B' || event.phase == 'b' || event.phase == 'S';
  edge.thread = thread(source(event.pid), event.tid);
  if (event.category == kUserCategory) sources_[threads_[edge.thread].source].has_host_work = true;
  edge.name = intern(event.name);
  const Category category = category_of(event.category);
  edge.domain = named_domain(event, category == Category::kOperator ? kOperatorDomain : category == Category::kPython ? kPythonDomain : kUserDomain);
  const NvtxDetail detail = range_detail(event, threads_[edge.thread].source, edge.domain);
  edge.detail = intern(detail);
  if (edge.begins && begun_.try_emplace(edge.detail, detail).second) kept_ += cost::kEvent + sizeof(NvtxDetail);
  edge.time = event.time;
  if (edge.begins && event.arguments.unfinished && *event.arguments.unfinished >= 0 && *event.arguments.unfinished < kLongest)
    see(event.time, *(edge.seen_until = event.time + *event.arguments.unfinished));
  if (event.phase == 'B' || event.phase == 'E') {
    thread_edges_.push_back(edge);
  } else {
    // Asynchronous ranges are matched by category and id, on any thread.
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
    key.domain = begin.domain;
    group(key).push_back({begin.time, end - begin.time, begin.name, 0, detail});
  };
  OpenRanges open(edges);
  for (std::size_t i = 0; i < edges.size(); ++i) {
    if (edges[i].begins) {
      open.begin(i);
      continue;
    }
    // An end on a thread closes the innermost range; an asynchronous end closes the innermost range of its name.
    const bool by_name = kind == TrackKind::kNvtxProcessRanges && edges[i].name != 0;
    const auto begin = by_name ? open.close(edges[i].name) : open.close();
    if (begin)
      place(edges[*begin], edges[i].time, edges[*begin].detail);
    else
      ++ends_alone_;
  }
  for (const std::size_t begin : open.rest()) {
    NvtxDetail detail = begun_.at(edges[begin].detail);
    detail.finished = Finished::kNo;
    place(edges[begin], edges[begin].seen_until.value_or(end_), intern(detail));
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
