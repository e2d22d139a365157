#include "timeline/core/pixels/svg_picture.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>

#include "model/text/language.h"
#include "model/trace/call_stacks.h"
#include "model/trace/text/utf8.h"
#include "timeline/core/pixels/counter_pixels.h"
#include "timeline/core/pixels/level_pixels.h"
#include "timeline/core/pixels/ruler.h"
#include "timeline/core/words/format.h"

namespace lanescope::timeline {
namespace {

constexpr std::int32_t kNames = 200;       // px
constexpr std::int32_t kRulerHeight = 22;  // px
constexpr std::int32_t kRowHeight = 22;    // px, with a gap of 3
constexpr std::int32_t kBarHeight = kRowHeight - 3;
constexpr double kTickSpacing = 90;            // px
constexpr double kLetterWidth = 6.2;           // average px of a letter
constexpr double kNarrowestName = 34;          // px; narrower boxes get no name
constexpr double kIdleShade = 0.30;            // of a cause's colour, as in the timeline
constexpr double kWaitingShade = 0.6;          // share of white over time that only waits
constexpr int kWaitingShades = 6;              // number of distinct shades
constexpr std::int32_t kNarrowestCause = 150;  // px; narrower gaps get no label of their cause
constexpr std::size_t kOuterLevels = 2;
constexpr double kIndent = 10;              // px
constexpr std::size_t kLongestTitle = 300;  // letters of a name that is shown under the pointer, because a page has thousands of them
constexpr Rgb kWhite = 0xffffffff;
constexpr const char* kNoteColor = "#955c00";
constexpr ColorScheme kScheme = ColorScheme::kLight;

std::string fill_text(Rgb color) {
  char text[8];
  std::snprintf(text, sizeof text, "#%06x", color & 0xffffff);
  return text;
}

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f", value);
  return text;
}

// As many letters as fit.
std::string fitting(std::string_view text, double room) { return shortened(text, static_cast<std::size_t>(std::max(0.0, room / kLetterWidth))); }

std::size_t letters(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char byte) { return (static_cast<unsigned char>(byte) & 0xc0) != 0x80; }));
}

// Draws rectangles; all of one colour are one path.
class Painter {
 public:
  void fill(double x, double y, double width, double height, Rgb color) {
    paths_[color] += "M" + number(x) + " " + number(y) + "h" + number(width) + "v" + number(height) + "h-" + number(width) + "z";
  }
  [[nodiscard]] std::string take() {
    std::string text;
    for (const auto& [color, path] : paths_) text += "<path fill=\"" + fill_text(color) + "\" d=\"" + path + "\"/>";
    paths_.clear();
    return text;
  }

 private:
  std::map<Rgb, std::string> paths_;
};

// `kind_of_row`: calls of samples have their CodeKind as detail.
Rgb color_of(const Trace& trace, RowKind kind_of_row, TrackKind kind, NameId name, DetailId detail) {
  if (kind_of_row == RowKind::kStackChart) return call_color(detail == 0 ? CodeKind::kNative : static_cast<CodeKind>(detail - 1), trace.name(name), kScheme);
  return event_color(kind, trace.name(name), has_own_colors(kind) && detail != 0 ? trace.nvtx_detail(detail).color : 0, kScheme);
}

// Names as in the source code, except states, which are translated.
std::string name_of(const Trace& trace, const Box& box) {
  if (box.kind == TrackKind::kThreadStates) return shown_language().translate(trace.name(box.name));
  if (box.kind == TrackKind::kKernels) return compact_kernel_name(trace.name(box.name));
  return std::string(event_label(trace, box.kind, {.name = box.name, .detail = box.detail}));
}

// "[4711] main · CUDA API".
std::string name_with_owner(const RowTree& tree, RowIndex index) {
  const Row& row = tree.row(index);
  for (auto parent = row.parent; parent; parent = tree.row(*parent).parent)
    if (const RowKind kind = tree.row(*parent).kind; kind == RowKind::kThread || kind == RowKind::kGpu)
      return tree.row(*parent).label.english() + " · " + row.label.english();
  return row_title(row);
}

class Drawing {
 public:
  Drawing(const Trace& trace, const RowTree& tree, const SvgPicture& picture, ContentCache& contents, const IdleTime* idle,
          const CommunicationTime* communication)
      : trace_(trace),
        tree_(tree),
        picture_(picture),
        idle_(idle),
        communication_(communication),
        viewport_{picture.range, std::max<std::int32_t>(100, picture.width - kNames)},
        contents_(contents) {
    for (const SvgRow& row : picture.rows) add_lines(row);
  }

  std::string text() {
    const std::int32_t height = kRulerHeight + kRowHeight * static_cast<std::int32_t>(lines_.size()) + 4;
    const std::string size = std::to_string(kNames + viewport_.width) + " " + std::to_string(height);
    std::string svg = "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " + size +
                      "\" width=\"100%\" font-family=\"sans-serif\" font-size=\"11\" role=\"img\"><rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>";
    svg += ruler(height);
    for (std::size_t i = 0; i < lines_.size(); ++i) svg += line(lines_[i], kRulerHeight + kRowHeight * static_cast<double>(i));
    if (picture_.marked) svg += mark(height);
    svg += notes(height);
    return svg + "</svg>";
  }

 private:
  struct Line {
    const SvgRow* row = nullptr;
    const Level* level = nullptr;
    bool is_first = true;  // of its row, whose name it shows
  };

  void add_lines(const SvgRow& picture_row) {
    const Row& row = tree_.row(picture_row.row);
    if (picture_row.form == SvgRow::Form::kCollapsed) return lines_.push_back({&picture_row, &row.all});
    const std::size_t most = picture_row.form == SvgRow::Form::kOuterLevels ? kOuterLevels : row.levels.size();
    if (row.levels.empty()) lines_.push_back({&picture_row});
    for (std::size_t depth = 0; depth < std::min(most, row.levels.size()); ++depth) lines_.push_back({&picture_row, &row.levels[depth], depth == 0});
  }

  [[nodiscard]] double x_of(Nanoseconds time) const { return kNames + viewport_.x_at(time); }

  std::string ruler(std::int32_t height) const {
    std::string svg;
    const Ruler ruler = make_ruler(viewport_, kTickSpacing);
    if (!ruler.base.empty()) svg += label(4, kRulerHeight - 8, ruler.base + " +", "#666666");
    for (const Tick& tick : ruler.ticks) {
      const double x = x_of(tick.time);
      if (x < kNames || x > kNames + viewport_.width) continue;
      svg += "<path stroke=\"#e4e4e4\" d=\"M" + number(x) + " " + std::to_string(kRulerHeight - 4) + "V" + std::to_string(height) + "\"/>";
      if (x + 30 < kNames + viewport_.width) svg += label(x + 2, kRulerHeight - 8, tick.label, "#444444");
    }
    return svg;
  }

  static std::string label(double x, double y, const std::string& text, const char* color, const char* weight = nullptr) {
    return "<text x=\"" + number(x) + "\" y=\"" + number(y) + "\" fill=\"" + color + (weight != nullptr ? std::string("\" font-weight=\"") + weight : "") +
           "\">" + markup_text(text) + "</text>";
  }

  [[nodiscard]] std::string name(const SvgRow& row, double top) const {
    const double left = 4 + kIndent * row.indent;
    return "<g><title>" + markup_text(shortened(row.name, kLongestTitle)) + "</title>" +
           label(left, top + kBarHeight - 5, fitting(row.name, kNames - 8 - left), "#222222", is_heading(tree_.row(row.row)) ? "bold" : nullptr) + "</g>";
  }

  std::string line(const Line& line, double top) {
    const Row& row = tree_.row(line.row->row);
    std::string svg = line.is_first ? name(*line.row, top) : std::string();
    if (row.counter) return svg + counter(*row.counter, top);
    if (line.level == nullptr || line.level->empty()) return svg;
    const LevelContent& content = contents_.content(*line.level);
    rasterizer_.prepare(std::vector<const LevelContent*>{&content}, viewport_);
    const LevelPixels& pixels = rasterizer_.rasterize(content, viewport_);
    const bool is_all_of_gpu = row.kind == RowKind::kGpuHardware || (row.kind == RowKind::kGpu && line.level == &row.all);
    const bool works = is_all_of_gpu && idle_ != nullptr;
    const std::size_t sharers = sharers_of(row);
    const GpuId gpu = works ? trace_.track_of(row.all.front().lane).key.gpu : kNone;
    const std::vector<IdleTime::Column> idle = works ? idle_->columns(gpu, viewport_) : std::vector<IdleTime::Column>();
    shade(idle, top);
    pixels.for_each_column([&](std::int32_t x, const Column& column) {
      if (!column.longest.valid()) return;
      const double tick = column.kind == TrackKind::kCpuSamples ? kBarHeight / 2.0 : kBarHeight;  // samples are numerous, and a single one says little
      const double bar = column.busy == 0 ? tick : std::max(2.0, busy_share(column, viewport_.step(), sharers) * kBarHeight);
      const bool is_longest = column.longest_name == column.dominant || row.kind == RowKind::kStackChart;
      const Rgb color = column.busy == 0 || has_dominant(column)
                            ? color_of(trace_, row.kind, column.kind, column.dominant, is_longest ? column.longest_detail : 0)
                            : mixed_color(column.kind, kScheme);
      painter_.fill(kNames + x, top + kBarHeight - bar, 1, bar, color);
    });
    svg += painter_.take();
    if (works) svg += causes(gpu, idle, top);
    if (sharers == 1) svg += boxes(row.kind, pixels, top);
    return svg + waits(*line.level, top);
  }

  // Draws the area from the bottom to the mean, the band from minimum to maximum, and the mean; the value of the top in front.
  std::string counter(CounterId id, double top) {
    const CounterScale scale = counter_scale(trace_, id);
    const double resolution = trace_.counters()[id].resolution;
    const Rgb color = counter_color(trace_, id, kScheme);
    const auto y_of = [&](double value) { return top + (1 - scale.height_of(value * resolution)) * (kBarHeight - 1); };
    const std::vector<CounterSummary> columns = counter_columns(trace_.counter_series(id), viewport_);
    std::optional<double> before;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const CounterSummary& column = columns[i];
      if (column.empty()) {
        before.reset();
        continue;
      }
      const double x = kNames + static_cast<double>(i);
      const double mean = y_of(column.mean()), most = y_of(static_cast<double>(column.maximum)), least = y_of(static_cast<double>(column.minimum));
      painter_.fill(x, least + 1, 1, top + kBarHeight - least - 1, blend(kWhite, color, kCounterFill));
      painter_.fill(x, most, 1, least + 1 - most, blend(kWhite, color, kCounterBand));
      const double from = before.value_or(mean);  // a step is drawn as a vertical line
      lines_of_means_.fill(x, std::min(from, mean), 1, std::abs(from - mean) + 1, color);
      before = mean;
    }
    return painter_.take() + lines_of_means_.take() + label(kNames + 3, top + 10, scale_text(trace_, id, scale), "#666666");
  }

  // Neighbouring columns of the same shade are drawn as one piece.
  std::string waits(const Level& level, double top) const {
    if (communication_ == nullptr) return {};
    const std::vector<float> columns = communication_->waiting_columns(level, viewport_);
    const auto shade_of = [&](std::size_t x) { return std::lround(std::min(1.0F, columns[x]) * kWaitingShades); };
    std::string svg;
    for (std::size_t x = 0; x < columns.size();) {
      std::size_t end = x + 1;
      while (end < columns.size() && shade_of(end) == shade_of(x)) ++end;
      if (shade_of(x) > 0)
        svg += "<rect x=\"" + number(kNames + static_cast<double>(x)) + "\" y=\"" + number(top) + "\" width=\"" + std::to_string(end - x) + "\" height=\"" +
               std::to_string(kBarHeight) + "\" fill=\"#ffffff\" fill-opacity=\"" + number(kWaitingShade * static_cast<double>(shade_of(x)) / kWaitingShades) +
               "\"><title>Waits for another rank</title></rect>";
      x = end;
    }
    return svg;
  }

  // The causes of gaps, if there is room for them.
  std::string causes(GpuId gpu, std::span<const IdleTime::Column> columns, double top) const {
    std::string svg;
    for (const IdleTime::Stretch& stretch : idle_->stretches(gpu, viewport_, columns, kNarrowestCause))
      svg += label(kNames + stretch.left + 3, top + kBarHeight - 5, std::string(analysis::idle_cause_name(stretch.cause)), "#666666");
    return svg;
  }

  void shade(std::span<const IdleTime::Column> columns, double top) {
    for (std::size_t x = 0; x < columns.size(); ++x)
      if (columns[x].share > 0)
        painter_.fill(kNames + static_cast<double>(x), top, 1, kBarHeight, blend(kWhite, idle_color(columns[x].cause, kScheme), kIdleShade * columns[x].share));
  }

  std::string boxes(RowKind kind, const LevelPixels& pixels, double top) const {
    std::string svg;
    for (const Box& box : pixels.boxes()) {
      const double left = std::max(0.0, box.left), right = std::min<double>(box.right, viewport_.width);
      if (right <= left) continue;
      const Rgb color = color_of(trace_, kind, box.kind, box.name, box.detail);
      const std::string name = name_of(trace_, box);
      // A computed event, for example a range on a GPU, does not have the duration of the event that it comes from.
      const bool is_derived = kind == RowKind::kStackChart || kind == RowKind::kGpuRanges;
      const std::string time = is_derived ? std::string() : ", " + format_duration(trace_.event(box.event).duration);
      svg += "<g><title>" + markup_text(shortened(name, kLongestTitle) + time) + "</title><rect x=\"" + number(kNames + left) + "\" y=\"" + number(top) +
             "\" width=\"" + number(std::max(0.5, right - left - 0.5)) + "\" height=\"" + std::to_string(kBarHeight) + "\" fill=\"" + fill_text(color) + "\"/>";
      if (right - left >= kNarrowestName)
        svg += label(kNames + left + 3, top + kBarHeight - 5, fitting(name, right - left - 8), fill_text(text_color_on(color)).c_str());
      svg += "</g>";
    }
    return svg;
  }

  std::string mark(std::int32_t height) const {
    const double left = std::clamp<double>(x_of(picture_.marked->begin), kNames, kNames + viewport_.width);
    const double right = std::clamp<double>(x_of(picture_.marked->end), kNames, kNames + viewport_.width);
    return "<rect x=\"" + number(left) + "\" y=\"" + std::to_string(kRulerHeight - 4) + "\" width=\"" + number(std::max(1.0, right - left)) + "\" height=\"" +
           std::to_string(height - kRulerHeight + 3) + "\" fill=\"none\" stroke=\"#00796b\"/>";
  }

  // As much of each text as fits in front of the next one.
  std::string notes(std::int32_t height) const {
    constexpr double kLeastText = 20;  // px
    std::string svg;
    std::vector<const SvgPicture::Note*> shown;
    for (const SvgPicture::Note& note : picture_.notes)
      if (note.time >= picture_.range.begin && note.time < picture_.range.end) shown.push_back(&note);
    for (std::size_t i = 0; i < shown.size(); ++i) {
      const double x = x_of(shown[i]->time);
      const double end = i + 1 < shown.size() ? x_of(shown[i + 1]->time) : kNames + viewport_.width;
      const std::string text = end - x < kLeastText ? std::string() : fitting(shown[i]->text, end - x - 6);
      svg += "<g><title>" + markup_text(shortened(shown[i]->text, kLongestTitle)) + "</title><path stroke=\"" + kNoteColor + "\" d=\"M" + number(x) + " 0V" +
             std::to_string(height) + "\"/>";
      if (!text.empty()) {
        svg += "<rect x=\"" + number(x + 1) + "\" y=\"0\" width=\"" + number(std::min(end - x, static_cast<double>(letters(text)) * kLetterWidth + 8)) +
               "\" height=\"" + std::to_string(kRulerHeight - 4) + "\" fill=\"#ffffff\"/>" + label(x + 4, kRulerHeight - 8, text, kNoteColor);
      }
      svg += "</g>";
    }
    return svg;
  }

  const Trace& trace_;
  const RowTree& tree_;
  const SvgPicture& picture_;
  const IdleTime* idle_;
  const CommunicationTime* communication_;
  Viewport viewport_;
  std::vector<Line> lines_;
  ContentCache& contents_;
  LevelRasterizer rasterizer_;
  Painter painter_;
  Painter lines_of_means_;
};

}  // namespace

std::string shortened(std::string_view text, std::size_t letters) {
  const std::string_view front = first_characters(text, letters);
  return front.size() == text.size() ? std::string(text) : std::string(front) + "…";
}

std::string markup_text(std::string_view text) {
  std::string result;
  for (const char c : printable(text, LineBreaks::kEscaped)) {
    if (c == '<')
      result += "&lt;";
    else if (c == '>')
      result += "&gt;";
    else if (c == '&')
      result += "&amp;";
    else if (c == '"')
      result += "&quot;";
    else
      result += c;
  }
  return result;
}

std::string svg_text(const Trace& trace, const RowTree& tree, const SvgPicture& picture, ContentCache& contents, const IdleTime* idle,
                     const CommunicationTime* communication) {
  return Drawing(trace, tree, picture, contents, idle, communication).text();
}

std::vector<SvgRow> telling_rows(const RowTree& tree, ContentCache& contents, TimeRange range, std::size_t most) {
  struct Candidate {
    RowIndex row = 0;
    int rank = 0;  // GPUs first
    Nanoseconds busy = 0;
  };
  std::vector<Candidate> candidates;
  for (RowIndex index = 0; index < tree.rows().size(); ++index) {
    const Row& row = tree.row(index);
    const bool calls = row.kind == RowKind::kCudaApi || row.kind == RowKind::kNvtx;
    const bool threads = row.kind == RowKind::kProcessorGroup || (row.kind == RowKind::kThread && row.share);
    const int rank = row.kind == RowKind::kGpuHardware ? 0 : calls ? 1 : threads ? 2 : 3;
    if (rank > 2 || row.all.empty()) continue;
    const Nanoseconds busy = contents.content(row.all).busy(range);
    if (busy > 0 || rank == 0) candidates.push_back({index, rank, busy});
  }
  // Threads and processors are informative only if there are no calls.
  if (std::any_of(candidates.begin(), candidates.end(), [](const Candidate& each) { return each.rank < 2; }))
    std::erase_if(candidates, [](const Candidate& each) { return each.rank == 2; });
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const Candidate& a, const Candidate& b) { return a.rank != b.rank ? a.rank < b.rank : a.busy > b.busy; });
  candidates.resize(std::min(candidates.size(), most));
  std::sort(candidates.begin(), candidates.end(), [](const Candidate& a, const Candidate& b) { return a.row < b.row; });
  std::vector<SvgRow> rows;
  for (const Candidate& candidate : candidates) {
    const bool nests = tree.row(candidate.row).kind == RowKind::kNvtx;
    rows.push_back({candidate.row, name_with_owner(tree, candidate.row), nests ? SvgRow::Form::kOuterLevels : SvgRow::Form::kCollapsed});
  }
  return rows;
}

std::vector<SvgRow> rows_in_sight(const RowTree& tree, const RowLayout& layout, TraceSides sides, std::int32_t scroll, std::int32_t window_height) {
  std::vector<const PlacedRow*> placed = layout.in_sight(scroll, window_height);
  std::erase_if(placed, [&](const PlacedRow* row) { return tree.row(row->row).kind == RowKind::kAnswer; });
  std::stable_sort(placed.begin(), placed.end(), [](const PlacedRow* a, const PlacedRow* b) { return a->top < b->top; });
  std::vector<SvgRow> rows;
  for (const PlacedRow* each : placed) {
    const Row& row = tree.row(each->row);
    const bool is_collapsed = each->levels.data() == &row.all;
    rows.push_back({each->row, placed_title(tree, *each, sides, row_title(row).in(shown_language())),
                    is_collapsed ? SvgRow::Form::kCollapsed : SvgRow::Form::kExpanded, each->is_pinned() ? 0 : row.depth});
  }
  return rows;
}

}  // namespace lanescope::timeline
