// Every push/pop range with its nesting.
#include <algorithm>
#include <memory>

#include "../columns/run_column.h"
#include "../label_groups.h"
#include "../ranges/nvtx_ranges.h"
#include "../ranges/range_stack.h"
#include "../report_functions.h"

namespace lanescope::stats {
namespace {

// The ranges of all threads, and the rows of the table. There may be millions, so the numbers of a row are looked up when they are read.
struct ListedRanges {
  std::vector<std::pair<ThreadId, std::vector<NvtxRange>>> threads;
  struct Row {
    std::uint32_t thread = 0, range = 0;  // places
  };
  std::vector<Row> rows;  // by start

  explicit ListedRanges(const Selection& selection) {
    for (auto& [thread, ranges] : ranges_by_thread(selection, RangeKinds::kPushPop)) threads.emplace_back(thread, std::move(ranges));
    for (std::uint32_t thread = 0; thread < threads.size(); ++thread)
      for (std::uint32_t range = 0; range < threads[thread].second.size(); ++range) rows.push_back({thread, range});
    std::stable_sort(rows.begin(), rows.end(), [this](const Row& a, const Row& b) { return range_of(a).time.begin < range_of(b).time.begin; });
  }
  [[nodiscard]] const std::vector<NvtxRange>& ranges_around(std::size_t row) const { return threads[rows[row].thread].second; }
  [[nodiscard]] const NvtxRange& range_of(const Row& row) const { return threads[row.thread].second[row.range]; }
  [[nodiscard]] const NvtxRange& range(std::size_t row) const { return range_of(rows[row]); }
  [[nodiscard]] ThreadId thread(std::size_t row) const { return threads[rows[row].thread].first; }
};

// Texts of rows. Very many are equal: each is kept once.
class RowTexts {
 public:
  RowTexts(const Trace& trace, const ListedRanges& listed, Table& table) : trace_(trace), listed_(listed), table_(table), stacks_(listed.rows.size()) {
    names.reserve(listed.rows.size());
    stacks.reserve(listed.rows.size());
    trees.reserve(listed.rows.size());
    for (std::size_t row = 0; row < listed.rows.size(); ++row) add(row);
  }
  Texts names, stacks, trees;

 private:
  void add(std::size_t row) {
    const NvtxRange& range = listed_.range(row);
    const ProcessId process = trace_.threads()[listed_.thread(row)].process;
    const std::string indent = stacks_.indent(range.level);
    TextId& name = names_[{process, range.domain, range.name}];
    if (name == TextId{0}) name = table_.add_text(range_name(trace_, process, range.domain, range.name));
    names.push_back(name);
    stacks.push_back(table_.add_text(stacks_.ids(listed_.ranges_around(row), listed_.rows[row].range)));
    if (indent.empty()) {
      trees.push_back(name);
      return;
    }
    TextId& tree = trees_[{static_cast<std::uint32_t>(indent.size()), static_cast<std::uint32_t>(name)}];
    if (tree == TextId{0}) tree = table_.add_text(indent + std::string(table_.text(name)));
    trees.push_back(tree);
  }

  const Trace& trace_;
  const ListedRanges& listed_;
  Table& table_;
  RangeStacks stacks_;
  GroupsByIds<3, TextId> names_;  // by process, domain and name
  GroupsByIds<2, TextId> trees_;  // by number of dashes in front, and name
};

}  // namespace

Table nvtx_pushpop_trace(const Selection& selection, const ReportOptions&) {
  const Trace& trace = selection.trace();
  const auto listed = std::make_shared<const ListedRanges>(selection);
  Table table;
  RowTexts texts(trace, *listed, table);
  std::vector<std::int64_t> pids, tids;  // by place of the thread
  for (const auto& [id, ranges] : listed->threads) {
    const Thread& thread = trace.threads()[id];
    pids.push_back(trace.processes()[thread.process].pid);
    tids.push_back(thread.tid);
  }
  const auto of_ranges = [&](std::int64_t (*value)(const NvtxRange&)) {
    return Computed<std::int64_t>([listed, value](std::size_t row) { return value(listed->range(row)); });
  };
  const auto of_threads = [&](std::vector<std::int64_t> values) {
    return Computed<std::int64_t>([listed, values = std::move(values)](std::size_t row) { return values[listed->rows[row].thread]; });
  };
  const auto parent = [listed](std::size_t row) { return parent_id(listed->ranges_around(row), listed->rows[row].range); };

  table.set_columns({{"Start", Unit::kNanoseconds, of_ranges([](const NvtxRange& r) { return r.time.begin; })},
                     {"End", Unit::kNanoseconds, of_ranges([](const NvtxRange& r) { return r.time.end; })},
                     {"Duration", Unit::kNanoseconds, of_ranges([](const NvtxRange& r) { return r.time.length(); })},
                     {"DurChild", Unit::kNanoseconds, of_ranges([](const NvtxRange& r) { return r.children_time; })},
                     {"DurNonChild", Unit::kNanoseconds, of_ranges([](const NvtxRange& r) { return r.time.length() - r.children_time; })},
                     {"Name", Unit::kNone, std::move(texts.names)},
                     {"PID", Unit::kIdentifier, of_threads(std::move(pids))},
                     {"TID", Unit::kIdentifier, of_threads(std::move(tids))},
                     {"Lvl", Unit::kNone, of_ranges([](const NvtxRange& r) { return std::int64_t{r.level}; })},
                     {"NumChild", Unit::kNone, of_ranges([](const NvtxRange& r) { return std::int64_t{r.children}; })},
                     {"RangeId", Unit::kIdentifier, of_ranges([](const NvtxRange& r) { return r.id; })},
                     {"ParentId", Unit::kIdentifier, Computed<std::int64_t>(parent)},
                     {"RangeStack", Unit::kNone, std::move(texts.stacks)},
                     {"NameTree", Unit::kNone, std::move(texts.trees)}},
                    listed->rows.size());
  add_origins(trace, table, [&](std::size_t row) { return trace.threads()[listed->thread(row)].process; });
  return table;
}

}  // namespace lanescope::stats
