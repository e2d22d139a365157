#include "timeline/core/svg_picture.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>

#include "model/trace/utf8.h"
#include "timeline/core/format.h"
#include "timeline/core/level_pixels.h"
#include "timeline/core/ruler.h"

namespace lanescope::timeline {
namespace {

constexpr std::int32_t kNames = 200;       // px
constexpr std::int32_t kRulerHeight = 22;  // px
constexpr std::int32_t kRowHeight = 22;    // px, with a gap of 3
constexpr std::int32_t kBarHeight = kRowHeight - 3;
constexpr double kTickSpacing = 90;     // px
constexpr double kLetterWidth = 6.2;    // px of a letter, on average
constexpr double kNarrowestName = 34;   // px of a box that is named
constexpr double kIdleShade = 0.30;     // of a cause's colour, as in the timeline
constexpr double kWaitingShade = 0.6;   // of white, over what does nothing but wait
constexpr int kWaitingShades = 6;       // that are told apart
constexpr std::int32_t kNarrowestCause = 150; // px of a gap whose cause is written
constexpr std::size_t kMostLevels = 2;  // of nested ranges
constexpr std::size_t kLongestTitle = 300;  // letters of a name that the pointer is over: a page has thousands
constexpr Rgb kWhite = 0xffffffff;
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

// As many letters as there is room for.
std::string fitting(std::string_view text, double room) {
  return shortened(text, static_cast<std::size_t>(std::max(0.0, room / kLetterWidth)));
}

// Rectangles of one colour are one path.
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

Rgb color_of(const Trace& trace, TrackKind kind, NameId name, EventRef event) {
  const bool is_range = kind == TrackKind::kNvtxRanges || kind == TrackKind::kNvtxProcessRanges || kind == TrackKind::kNvtxMarks;
  const DetailId detail = is_range && event.valid() ? trace.lane(event.lane).detail(event.index) : 0;
  return event_color(kind, trace.name(name), detail == 0 ? 0 : trace.nvtx_detail(detail).color, kScheme);
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
    for (const RowIndex index : picture.rows) add_lines(index);
  }

  std::string text() {
    const std::int32_t height = kRulerHeight + kRowHeight * static_cast<std::int32_t>(lines_.size()) + 4;
    const std::string size = std::to_string(kNames + viewport_.width) + " " + std::to_string(height);
    std::string svg = "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " + size +
                      "\" width=\"100%\" font-family=\"sans-serif\" font-size=\"11\" role=\"img\"><rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>";
    svg += ruler(height);
    for (std::size_t i = 0; i < lines_.size(); ++i) svg += line(lines_[i], kRulerHeight + kRowHeight * static_cast<double>(i));
    if (picture_.marked) svg += mark(height);
    return svg + "</svg>";
  }

 private:
  struct Line {
    RowIndex row = 0;
    std::string name;
    const Level* level = nullptr;
  };

  // One for each row; of ranges, one for each of the outer nesting depths.
  void add_lines(RowIndex index) {
    const Row& row = tree_.row(index);
    std::string name = row_title(row);
    for (auto parent = row.parent; parent; parent = tree_.row(*parent).parent)  // whose it is
      if (const RowKind kind = tree_.row(*parent).kind; kind == RowKind::kThread || kind == RowKind::kGpu) {
        name = tree_.row(*parent).label.english() + " · " + row.label.english();
        break;
      }
    if (row.kind != RowKind::kNvtx) return lines_.push_back({index, std::move(name), &row.all});
    for (std::size_t depth = 0; depth < std::min(kMostLevels, row.levels.size()); ++depth)
      lines_.push_back({index, depth == 0 ? name : std::string(), &row.levels[depth]});
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

  static std::string label(double x, double y, const std::string& text, const char* color) {
    return "<text x=\"" + number(x) + "\" y=\"" + number(y) + "\" fill=\"" + color + "\">" + markup_text(text) + "</text>";
  }

  std::string line(const Line& line, double top) {
    const Row& row = tree_.row(line.row);
    std::string svg = "<g><title>" + markup_text(shortened(line.name, kLongestTitle)) + "</title>" +
                      label(4, top + kBarHeight - 5, fitting(line.name, kNames - 12), "#222222") + "</g>";
    if (line.level == nullptr || line.level->empty()) return svg;
    const LevelContent& content = contents_.content(*line.level);
    rasterizer_.prepare(std::vector<const LevelContent*>{&content}, viewport_);
    const LevelPixels& pixels = rasterizer_.rasterize(content, viewport_);
    const bool works = row.kind == RowKind::kGpuHardware && idle_ != nullptr;
    const GpuId gpu = works ? trace_.track_of(row.all.front().lane).key.gpu : kNone;
    const std::vector<IdleTime::Column> idle = works ? idle_->columns(gpu, viewport_) : std::vector<IdleTime::Column>();
    shade(idle, top);
    pixels.for_each_column([&](std::int32_t x, const Column& column) {
      if (!column.longest.valid()) return;
      const double bar = column.busy == 0 ? kBarHeight : std::max(2.0, busy_share(column, viewport_.step(), 1) * kBarHeight);
      const Rgb color = column.busy == 0 || has_dominant(column)
                            ? color_of(trace_, column.kind, column.dominant, column.longest)
                            : mixed_color(column.kind, kScheme);
      painter_.fill(kNames + x, top + kBarHeight - bar, 1, bar, color);
    });
    svg += painter_.take();
    if (works) svg += causes(gpu, idle, top);
    return svg + boxes(pixels, top) + waits(*line.level, top);
  }

  // Neighbouring columns of one shade are one piece.
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

  // Why nothing runs, where there is room to say it.
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

  std::string boxes(const LevelPixels& pixels, double top) const {
    std::string svg;
    for (const Box& box : pixels.boxes()) {
      const double left = std::max(0.0, box.left), right = std::min<double>(box.right, viewport_.width);
      if (right <= left) continue;
      const Event event = trace_.event(box.event);
      const Rgb color = color_of(trace_, box.kind, box.name, box.event);
      const std::string name = box.kind == TrackKind::kKernels ? compact_kernel_name(trace_.name(event.name))
                                                               : std::string(event_label(trace_, box.kind, event));
      svg += "<g><title>" + markup_text(shortened(name, kLongestTitle) + ", " + format_duration(event.duration)) + "</title><rect x=\"" + number(kNames + left) + "\" y=\"" +
             number(top) + "\" width=\"" + number(std::max(0.5, right - left - 0.5)) + "\" height=\"" + std::to_string(kBarHeight) + "\" fill=\"" +
             fill_text(color) + "\"/>";
      if (right - left >= kNarrowestName)
        svg += label(kNames + left + 3, top + kBarHeight - 5, fitting(name, right - left - 8), fill_text(text_color_on(color)).c_str());
      svg += "</g>";
    }
    return svg;
  }

  std::string mark(std::int32_t height) const {
    const double left = std::clamp<double>(x_of(picture_.marked->begin), kNames, kNames + viewport_.width);
    const double right = std::clamp<double>(x_of(picture_.marked->end), kNames, kNames + viewport_.width);
    return "<rect x=\"" + number(left) + "\" y=\"" + std::to_string(kRulerHeight - 4) + "\" width=\"" + number(std::max(1.0, right - left)) +
           "\" height=\"" + std::to_string(height - kRulerHeight + 3) + "\" fill=\"none\" stroke=\"#00796b\"/>";
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
};

}  // namespace

std::string shortened(std::string_view text, std::size_t letters) {
  std::size_t end = 0, count = 0;
  for (; end < text.size(); ++end)
    if ((static_cast<unsigned char>(text[end]) & 0xc0) != 0x80 && ++count > letters) break;
  return end == text.size() ? std::string(text) : std::string(text.substr(0, end)) + "…";
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

std::vector<RowIndex> telling_rows(const RowTree& tree, ContentCache& contents, TimeRange range, std::size_t most) {
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
  // Threads and processors say something where nobody calls anything.
  if (std::any_of(candidates.begin(), candidates.end(), [](const Candidate& each) { return each.rank < 2; }))
    std::erase_if(candidates, [](const Candidate& each) { return each.rank == 2; });
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const Candidate& a, const Candidate& b) { return a.rank != b.rank ? a.rank < b.rank : a.busy > b.busy; });
  candidates.resize(std::min(candidates.size(), most));
  std::vector<RowIndex> rows;
  for (const Candidate& candidate : candidates) rows.push_back(candidate.row);
  std::sort(rows.begin(), rows.end());
  return rows;
}

}  // namespace lanescope::timeline
