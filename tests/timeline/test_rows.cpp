#include <algorithm>
#include <set>

#include "support/catch.h"
#include "timeline/core/rows/row_layout.h"
#include "timeline/core/rows/row_tree.h"
#include "traces.h"

using namespace lanescope;
using namespace lanescope::timeline;
using lanescope::test::SmallTrace;

namespace {

std::vector<std::string> titles(const RowTree& tree) {
  std::vector<std::string> lines;
  for (const Row& row : tree.rows()) lines.push_back(std::string(row.depth * 2, ' ') + row_title(row).english());
  return lines;
}

// Two streams with kernels, one of them also with copies; a thread with calls, nested ranges and a domain.
struct TwoStreams : SmallTrace {
  TwoStreams() {
    builder.set_domain(process, 3, "NCCL");
    builder.add(on_gpu(TrackKind::kKernels, 7), {event(0, 60, "gemm"), event(60, 70, "relu")});
    builder.add(on_gpu(TrackKind::kMemory, 7), {copy(80, 90, CopyKind::kHostToDevice, 64), copy(90, 95, CopyKind::kDeviceToHost, 64)});
    builder.add(on_gpu(TrackKind::kKernels, 13), {event(50, 65, "gemm")});
    builder.add(on_thread(TrackKind::kCudaApi), {event(0, 5, "cudaLaunchKernel")});
    const std::vector<Event> ranges{event(0, 100, "step 1"), event(10, 20, "forward")};
    const std::vector<std::uint32_t> depths{0, 1};
    builder.add(on_thread(TrackKind::kNvtxRanges), ranges, depths);
    builder.add(on_thread(TrackKind::kNvtxRanges, 3), {event(30, 40, "ncclAllReduce")});
    trace = builder.snapshot();
    tree = RowTree(*trace);
  }
  const Row& row(const std::string& key) const { return tree.row(tree.find(key).value()); }
  std::shared_ptr<const Trace> trace;
  RowTree tree;
};

}  // namespace

TEST_CASE("where ranges have too many rows on GPUs, a row says so") {
  SmallTrace small;
  constexpr std::uint32_t kThreads = 400, kGpus = 260;  // 104,000 rows
  for (std::uint32_t i = 0; i < kThreads; ++i) {
    const ThreadId thread = small.builder.thread(small.process, 5'000 + i);
    small.builder.add({.kind = TrackKind::kCudaApi, .process = small.process, .thread = thread}, {small.event(0, 5, "cudaLaunchKernel")});
    small.builder.add({.kind = TrackKind::kNvtxRanges, .process = small.process, .thread = thread}, {small.event(0, 9, "step")});
  }
  for (std::uint32_t i = 0; i < kGpus; ++i) {
    Gpu description;
    description.ordinal = i;
    description.name = "NVIDIA H200";
    description.uuid = std::string(14, '\0') + static_cast<char>(i / 256) + static_cast<char>(i % 256);
    small.builder.set_device(small.process, i, description);
    const GpuId gpu = small.builder.gpu_of_device(small.process, i);
    small.builder.add({.kind = TrackKind::kKernels, .process = small.process, .gpu = gpu, .context = i, .stream = 7}, {small.event(0, 5, "gemm")});
  }
  const RowTree tree(*small.builder.snapshot());
  std::size_t rows = 0, groups = 0, left_out = 0;
  for (const Row& row : tree.rows()) {
    if (row.kind != RowKind::kGpuRanges) continue;
    const bool says_so = row.label.english() == "NVTX: left out beyond 100,000 rows";
    left_out += says_so ? 1 : 0;
    rows += row.levels.empty() ? 0 : 1;
    groups += row.levels.empty() && !says_so ? 1 : 0;
  }
  CHECK(rows == 100'000);
  CHECK(groups == 250);
  CHECK(left_out == 10);  // on each of the other GPUs
}

TEST_CASE("rows are those that users of Nsight Systems know, with their shares") {
  const TwoStreams small;
  REQUIRE(titles(small.tree) == std::vector<std::string>{
                                    "GPU 0  NVIDIA H200",
                                    "  CUDA HW",
                                    "    85.0 % Kernels",
                                    "      75.0 % gemm",
                                    "      10.0 % relu",
                                    "    15.0 % Memory",
                                    "      10.0 % HtoD",
                                    "      5.0 % DtoH",
                                    "    85.0 % Stream 7",
                                    "      Kernels",
                                    "      Memory",
                                    "    15.0 % Stream 13",
                                    "  NVTX",
                                    "    [4711] main",
                                    "    [4711] main · NCCL",
                                    "Processes (1)",
                                    "  [4711] python",
                                    "    [4711] main",
                                    "      NVTX",
                                    "      NVTX · NCCL",
                                    "      CUDA API",
                                });
}

TEST_CASE("a row that groups others combines all that is below it") {
  const TwoStreams small;
  REQUIRE(small.row("gpu:0/hw").all.size() == 3);
  REQUIRE(small.row("gpu:0/kernels").all.size() == 2);
  REQUIRE(small.row("process:1").all.size() == 4);  // two depths of ranges, the domain, and the calls
}

TEST_CASE("nested ranges get a level for each depth") {
  const TwoStreams small;
  REQUIRE(small.row("process:1/thread:4711/nvtx:0").levels.size() == 2);
  REQUIRE(small.row("process:1/thread:4711/nvtx:3").levels.size() == 1);
}

TEST_CASE("an event's place is the row of its stream or thread") {
  const TwoStreams small;
  for (LaneId lane = 0; lane < small.trace->lanes().size(); ++lane) {
    const auto place = small.tree.place_of(lane).value();
    REQUIRE(small.tree.row(place.row).levels[place.level] == Level{LaneSource{lane}});
  }
}

TEST_CASE("keys stay the same when more events and rows come") {
  TwoStreams small;
  small.builder.add(small.on_gpu(TrackKind::kKernels, 5), {small.event(200, 300, "softmax")});
  const RowTree later(*small.builder.snapshot());
  for (const Row& row : small.tree.rows()) {
    REQUIRE(later.find(row.key).has_value());
    REQUIRE(later.row(*later.find(row.key)).kind == row.kind);
  }
  REQUIRE(later.rows().size() == small.tree.rows().size() + 2);  // the kernel's name and its stream
}

TEST_CASE("streams that are only waited for come last and have no share") {
  TwoStreams small;
  small.builder.add(small.on_gpu(TrackKind::kSynchronizations, 2), {small.event(0, 50, "Stream synchronization")});
  const RowTree tree(*small.builder.snapshot());
  const std::vector<RowIndex>& rows = tree.row(*tree.find("gpu:0/hw")).children;
  REQUIRE(row_title(tree.row(rows.back())).english() == "Stream 2 waits");
}

TEST_CASE("two or more streams with less than a thousandth of the work are one line") {
  const auto below_hardware = [](const std::vector<std::pair<std::uint32_t, Nanoseconds>>& work) {
    test::SmallTrace small;
    for (const auto& [stream, time] : work) small.builder.add(small.on_gpu(TrackKind::kKernels, stream), {small.event(0, time, "gemm")});
    const RowTree tree(*small.builder.snapshot());
    std::vector<std::string> streams;
    for (const RowIndex child : tree.row(*tree.find("gpu:0/hw")).children) {
      const Row& row = tree.row(child);
      if (row.kind != RowKind::kStream && row.kind != RowKind::kQuietStreams) continue;
      streams.push_back(row.label.english() + (row.kind == RowKind::kQuietStreams && !row.expanded_initially ? " (closed)" : ""));
      if (row.kind == RowKind::kQuietStreams) CHECK(row.children.size() == 2);
    }
    return streams;
  };
  CHECK(below_hardware({{7, 1'000'000}, {13, 900}, {30, 10}}) == std::vector<std::string>{"Stream 7", "2 streams with little activity (closed)"});
  CHECK(below_hardware({{7, 1'000'000}, {13, 1'100}, {30, 10}}) == std::vector<std::string>{"Stream 7", "Stream 13", "Stream 30"});
  CHECK(below_hardware({{7, 1'000}, {13, 1'000}}) == std::vector<std::string>{"Stream 7", "Stream 13"});
  std::vector<std::pair<std::uint32_t, Nanoseconds>> equal;  // each does less than a thousandth
  for (std::uint32_t stream = 1; stream <= 1'200; ++stream) equal.emplace_back(stream, 1'000);
  CHECK(below_hardware(equal).size() == equal.size());
}

TEST_CASE("waits for a whole context are on no stream") {
  const std::uint32_t stream = GENERATE(0u, 0xffffffffu);
  TwoStreams small;
  small.builder.add(small.on_gpu(TrackKind::kSynchronizations, stream), {small.event(0, 50, "Context synchronization")});
  const RowTree tree(*small.builder.snapshot());
  REQUIRE(tree.row(tree.row(*tree.find("gpu:0/hw")).children.back()).label.english() == "Context waits");
}

TEST_CASE("collapsed rows hide what is below and show it combined") {
  const TwoStreams small;
  const RowMetrics metrics;
  const RowLayout open(small.tree, {}, metrics, "");
  const RowLayout closed(small.tree, {.expanded = {{"process:1", false}, {"gpu:0", false}}}, metrics, "");
  REQUIRE(closed.rows().size() == 3);
  REQUIRE(closed.rows()[0].levels.size() == 1);
  REQUIRE(closed.rows()[0].levels[0] == small.row("gpu:0").all);
  REQUIRE(closed.height() < open.height());
  const RowIndex api = small.tree.find("process:1/thread:4711/api").value();
  REQUIRE(closed.nearest_shown(api)->row == small.tree.find("process:1"));
  REQUIRE(open.nearest_shown(api)->row == api);
}

TEST_CASE("every y belongs to one row, and to its level") {
  const TwoStreams small;
  const RowLayout layout(small.tree, {}, RowMetrics{}, "");
  for (std::int32_t y = 0; y < layout.height(); ++y) {
    const PlacedRow* row = layout.row_at(y);
    REQUIRE(row->top <= y);
    REQUIRE(y < row->top + row->height);
    if (const auto level = RowLayout::level_at(*row, y)) REQUIRE(*level == static_cast<std::uint32_t>((y - row->top) / row->level_height));
  }
  REQUIRE(layout.row_at(-1) == nullptr);
  REQUIRE(layout.row_at(layout.height()) == nullptr);
}

TEST_CASE("the filter leaves rows that match, what is in them and what leads to them") {
  const TwoStreams small;
  const RowLayout layout(small.tree, {}, RowMetrics{}, "nccl");
  std::vector<std::string> shown;
  for (const PlacedRow& row : layout.rows()) shown.push_back(small.tree.row(row.row).label);
  REQUIRE(shown == std::vector<std::string>{"GPU 0  NVIDIA H200", "NVTX", "Processes (1)", "[4711] python", "[4711] main", "NVTX · NCCL"});
  REQUIRE(RowLayout(small.tree, {}, RowMetrics{}, "no such row").rows().empty());
}

TEST_CASE("pinned rows stay above all others and in their places") {
  const TwoStreams small;
  const RowMetrics metrics;
  const RowLayout layout(small.tree, {.pinned = {"process:1/thread:4711/api", "no such row"}}, metrics, "kernels");
  const RowIndex api = small.tree.find("process:1/thread:4711/api").value();
  REQUIRE(layout.rows().front().row == api);
  REQUIRE(layout.rows().front().is_pinned());
  REQUIRE(layout.pinned_height() == layout.rows().front().height);
  REQUIRE(layout.nearest_shown(api) == &layout.rows().front());
  const int scroll = 30;
  REQUIRE(layout.row_at(layout.unscrolled(3, scroll))->row == api);
  const PlacedRow* below = layout.row_at(layout.unscrolled(layout.pinned_height() + 3, scroll));
  REQUIRE_FALSE(below->is_pinned());
  REQUIRE(RowLayout::top_in_window(*below, scroll) <= layout.pinned_height() + 3);
  const auto shown = layout.in_sight(scroll, 200);
  REQUIRE(shown.back()->row == api);  // painted last, so it covers the rows that are scrolled
  const RowLayout all(small.tree, {.pinned = {"process:1/thread:4711/api"}}, metrics, "");
  REQUIRE(std::count_if(all.rows().begin(), all.rows().end(), [api](const PlacedRow& row) { return row.row == api; }) == 2);
}

TEST_CASE("hidden rows go with all that is below them; siblings come in the order that was chosen") {
  const TwoStreams small;
  const auto labels = [&](const RowArrangement& arrangement) {
    std::vector<std::string> shown;
    const RowLayout layout(small.tree, arrangement, RowMetrics{}, "");
    for (const PlacedRow& row : layout.rows()) shown.push_back(small.tree.row(row.row).label);
    return shown;
  };
  REQUIRE(labels({.hidden = {"gpu:0"}}) == std::vector<std::string>{"Processes (1)", "[4711] python", "[4711] main", "NVTX", "NVTX · NCCL", "CUDA API"});
  REQUIRE(labels({.hidden = {"gpu:0"}, .order = {{"process:1/thread:4711", {"process:1/thread:4711/api"}}}}) ==
          std::vector<std::string>{"Processes (1)", "[4711] python", "[4711] main", "CUDA API", "NVTX", "NVTX · NCCL"});
  REQUIRE(labels({.order = {{"", {"processes"}}}}).front() == "Processes (1)");
}

TEST_CASE("of a row of very many levels, those in sight are told by where the window is") {
  const std::vector<Level> levels(100'000, Level{LaneSource{0}});
  PlacedRow row;
  row.top = 40;
  row.level_height = 16;
  row.levels = levels;
  row.height = 16 * 100'000 + 1;
  const auto first = [&](std::span<const Level> shown) { return shown.data() - levels.data(); };
  const auto at_top = RowLayout::levels_in_sight(row, 0, 200);
  CHECK(first(at_top) == 0);
  CHECK(at_top.size() == 11);  // 160 pixels of levels of 16 pixels, and one that the window's end may touch
  const auto in_middle = RowLayout::levels_in_sight(row, 40 + 16 * 5'000 + 3, 200);
  CHECK(first(in_middle) == 5'000);
  CHECK(in_middle.size() == 13);
  CHECK(RowLayout::levels_in_sight(row, 40 + 16 * 99'999, 200).size() == 1);
  CHECK(RowLayout::levels_in_sight(row, 40 + 16 * 200'000, 200).empty());
}

TEST_CASE("kernels whose names differ in their counters are one row that opens into theirs") {
  SmallTrace small;
  small.builder.add(small.on_gpu(TrackKind::kKernels, 7),
                    {small.event(0, 30, "scan<128>"), small.event(30, 40, "relu"), small.event(40, 90, "scan<256>"), small.event(90, 100, "scan<128>")});
  const auto trace = small.builder.snapshot();
  const RowTree tree(*trace);
  const Row& family = tree.row(tree.find("gpu:0/kernels/family:scan<*>").value());
  CHECK(family.kind == RowKind::kKernelFamily);
  CHECK(row_title(family).english() == "90.0 % scan<*>");
  CHECK_FALSE(family.expanded_initially);
  std::vector<std::string> names;
  for (const RowIndex child : family.children) names.push_back(row_title(tree.row(child)).english());
  CHECK(names == std::vector<std::string>{"50.0 % scan<256>", "40.0 % scan<128>"});
  // The row shows the kernels of both names, and no others.
  std::size_t shown = 0;
  const LaneId lane = family.all.front().lane;
  for (EventIndex i = 0; i < trace->lane(lane).size(); ++i) {
    const Event event = trace->event({lane, i});
    const bool matches = std::any_of(family.all.begin(), family.all.end(), [&](const LaneSource& source) { return source.matches(*trace, event); });
    CHECK(matches == std::string_view(trace->name(event.name)).starts_with("scan"));
    shown += matches ? 1 : 0;
  }
  CHECK(shown == 3);
  CHECK(tree.row(tree.find("gpu:0/kernels/relu").value()).parent == tree.find("gpu:0/kernels"));
}

TEST_CASE("rows hold what is in them however they are closed, and nothing of what is hidden or filtered out") {
  const TwoStreams small;
  const auto kinds_of = [&](const RowArrangement& arrangement, std::string_view filter) {
    std::set<TrackKind> kinds;
    for (const LaneId lane : data_of_rows(small.tree, arrangement, filter).lanes) kinds.insert(small.trace->track_of(lane).key.kind);
    return kinds;
  };
  const std::set<TrackKind> all = kinds_of({}, {});
  CHECK(all == std::set<TrackKind>{TrackKind::kKernels, TrackKind::kMemory, TrackKind::kCudaApi, TrackKind::kNvtxRanges});
  RowArrangement arrangement;
  for (const Row& row : small.tree.rows()) arrangement.expanded[row.key] = false;
  CHECK(kinds_of(arrangement, {}) == all);
  arrangement.hidden.insert("gpu:0");
  CHECK(kinds_of(arrangement, {}) == std::set<TrackKind>{TrackKind::kCudaApi, TrackKind::kNvtxRanges});
  CHECK(kinds_of(arrangement, "CUDA API") == std::set<TrackKind>{TrackKind::kCudaApi});
  // The rows above a remaining row also sum up the rows that are left out.
  CHECK(kinds_of({}, "Memory") == std::set<TrackKind>{TrackKind::kMemory});
  RowArrangement without_kernels;
  for (const Row& row : small.tree.rows())
    if (const std::string title = row_title(row).english(); title.ends_with("Kernels") || title.ends_with("Stream 13")) without_kernels.hidden.insert(row.key);
  CHECK_FALSE(kinds_of(without_kernels, {}).contains(TrackKind::kKernels));
  CHECK(kinds_of(without_kernels, {}).contains(TrackKind::kMemory));
  CHECK(kinds_of({}, "CUDA HW") == std::set<TrackKind>{TrackKind::kKernels, TrackKind::kMemory});
}
