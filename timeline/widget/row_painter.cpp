#include "row_painter.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include <QPainter>

#include "counter_painter.h"
#include "timeline/core/describe.h"

namespace lanescope::timeline {
namespace {

constexpr double kNarrowestLabel = 28;    // logical pixels
constexpr double kTickSpacing = 110;      // logical pixels between labelled ticks; as in the ruler
constexpr double kSeparatorShare = 0.42;  // of the background in the edge between boxes
constexpr int kLowestBar = 3;             // device pixels: little is still seen
constexpr double kFirstBoxWithEdge = 5;   // device pixels
constexpr int kMarkHeight = 2;            // device pixels: the line below what a search found

bool is_nvtx(TrackKind kind) {
  return kind == TrackKind::kNvtxRanges || kind == TrackKind::kNvtxProcessRanges || kind == TrackKind::kNvtxMarks;
}

Rgb* scan_line(QImage& image, int y) { return reinterpret_cast<Rgb*>(image.scanLine(y)); }

void fill_lines(QImage& image, int top, int bottom, const std::vector<Rgb>& line) {
  for (int y = std::max(0, top); y < std::min(bottom, image.height()); ++y)
    std::memcpy(image.scanLine(y), line.data(), line.size() * sizeof(Rgb));
}

}  // namespace

void RowPainter::forget() {
  labels_.clear();
  colors_.clear();
}

void RowPainter::paint(ViewState& state, QImage& image) {
  const double ratio = image.devicePixelRatio();
  const Viewport viewport{state.range(), image.width()};
  QPainter painter(&image);
  painter.setFont(labels_.font());
  const std::vector<const PlacedRow*> shown = state.layout().in_sight(state.scroll(), static_cast<int>(std::ceil(image.height() / ratio)));
  std::vector<const LevelContent*> contents;
  for (const PlacedRow* row : shown)
    for (const Level& level : row->levels) contents.push_back(&state.content(level));
  state.rasterizer(viewport.range).prepare(contents, viewport);
  const Ruler ruler = make_ruler(viewport, kTickSpacing * ratio);
  fill_background(state, image, viewport, ruler, 0, image.height(), state.theme().background);
  for (const PlacedRow* each : shown) {
    const PlacedRow& row = *each;
    fill_row(state, image, viewport, ruler, row);
    if (const auto counter = state.tree().row(row.row).counter) {
      const int first_line = static_cast<int>(std::lround((state.top_of(row) + 2) * ratio));
      const int last_line = static_cast<int>(std::lround((state.top_of(row) + row.height - 1) * ratio));
      paint_counter(state, painter, *counter, viewport, image, first_line, last_line - first_line);
    }
    for (std::size_t index = 0; index < row.levels.size(); ++index) {
      const double top = state.top_of(row) + static_cast<double>(index) * row.level_height;
      const int first_line = static_cast<int>(std::lround((top + (index == 0 ? 2 : 1)) * ratio));
      const int last_line = static_cast<int>(std::lround((top + row.level_height) * ratio)) - (row.levels.size() == 1 ? 1 : 0);
      paint_level(state, row.levels[index], viewport, image, first_line, last_line - first_line);
      draw_labels(state, painter, ratio, first_line / ratio, (last_line - first_line) / ratio, viewport.width);
    }
  }
}

void RowPainter::fill_background(const ViewState& state, QImage& image, const Viewport& viewport, const Ruler& ruler, int top, int bottom,
                                 const QColor& color) {
  line_.assign(static_cast<std::size_t>(image.width()), color.rgb());
  for (const Tick& tick : ruler.ticks) {
    const auto x = static_cast<std::int64_t>(viewport.x_at(tick.time));
    if (x >= 0 && x < viewport.width) line_[static_cast<std::size_t>(x)] = state.theme().grid.rgb();
  }
  fill_lines(image, top, bottom, line_);
}

// Pinned rows cover what is scrolled below them.
void RowPainter::fill_row(const ViewState& state, QImage& image, const Viewport& viewport, const Ruler& ruler, const PlacedRow& row) {
  const double ratio = image.devicePixelRatio();
  const int top = static_cast<int>(std::lround(state.top_of(row) * ratio));
  const int bottom = static_cast<int>(std::lround((state.top_of(row) + row.height) * ratio));
  const Theme& theme = state.theme();
  const bool shows_counter = state.tree().row(row.row).counter.has_value();
  const bool groups = !shows_counter && (row.levels.empty() || state.tree().row(row.row).levels.empty());
  if (groups || row.pinned) fill_background(state, image, viewport, ruler, top, bottom, groups ? theme.group : theme.background);
  const bool last_pinned = row.pinned && row.top + row.height == state.layout().pinned_height();
  line_.assign(static_cast<std::size_t>(image.width()), (last_pinned ? theme.quiet_text : theme.separator).rgb());
  fill_lines(image, bottom - 1, bottom, line_);
}

void RowPainter::paint_level(ViewState& state, const Level& level, const Viewport& viewport, QImage& image, int top, int height) {
  const LevelContent& content = state.content(level);
  LevelRasterizer& rasterizer = state.rasterizer(viewport.range);
  pixels_ = &rasterizer.rasterize(content, viewport);
  if (height <= 0) return;
  color_columns(state, viewport, height);
  color_boxes(state, height);
  matching_.clear();
  if (!state.matches().text().empty()) dim_others(state, rasterizer.matching_columns(content, state.matches()));
  write_columns(image, top, height);
}

std::uint32_t RowPainter::nvtx_color(const Trace& trace, TrackKind kind, EventRef event) const {
  if (!is_nvtx(kind)) return 0;
  const DetailId detail = trace.lane(event.lane).detail(event.index);
  return detail == 0 ? 0 : trace.nvtx_detail(detail).color;
}

// Height says how busy a column is, colour who holds most of it.
void RowPainter::color_columns(const ViewState& state, const Viewport& viewport, int height) {
  const Trace& trace = state.trace();
  const ColorScheme scheme = state.theme().scheme;
  const double step = viewport.step();
  color_.assign(pixels_->columns.size(), 0);
  bar_.assign(pixels_->columns.size(), 0);
  for (std::size_t x = 0; x < pixels_->columns.size(); ++x) {
    const Column& column = pixels_->columns[x];
    if (!column.longest.valid()) continue;
    const bool instants = column.busy == 0;
    const double share = std::min(1.0, static_cast<double>(column.busy) / step);
    bar_[x] = instants ? height : std::max(std::min(kLowestBar, height), static_cast<int>(std::lround(share * height)));
    if (!instants && !has_dominant(column)) {
      color_[x] = mixed_color(column.kind, scheme);
      continue;
    }
    const bool longest_is_dominant = trace.lane(column.longest.lane).name(column.longest.index) == column.dominant;
    const std::uint32_t given = longest_is_dominant ? nvtx_color(trace, column.kind, column.longest) : 0;
    color_[x] = colors_.color(trace, column.kind, column.dominant, given, scheme);
  }
}

// Events seen singly are full boxes: the columns that they fill in part become softer instead of lower.
void RowPainter::color_boxes(const ViewState& state, int height) {
  const Trace& trace = state.trace();
  const Rgb background = state.theme().background.rgb();
  const auto width = static_cast<std::int64_t>(pixels_->columns.size());
  for (const Box& box : pixels_->boxes) {
    const Rgb color = colors_.color(trace, box.kind, box.name, nvtx_color(trace, box.kind, box.event), state.theme().scheme);
    const auto first = static_cast<std::int64_t>(std::ceil(box.left));
    const auto last = static_cast<std::int64_t>(std::floor(box.right));
    for (std::int64_t x = std::max<std::int64_t>(0, first); x < std::min(last, width); ++x) {
      color_[static_cast<std::size_t>(x)] = color;
      bar_[static_cast<std::size_t>(x)] = height;
    }
    const auto soften = [&](std::int64_t x, double share) {
      if (x < 0 || x >= width || share <= 0) return;
      const auto at = static_cast<std::size_t>(x);
      if (pixels_->columns[at].count + pixels_->columns[at].carried > 2) return;
      color_[at] = blend(background, color, share);
      bar_[at] = height;
    };
    const bool edged = box.right - box.left >= kFirstBoxWithEdge;
    soften(first - 1, (static_cast<double>(first) - box.left) * (edged ? 1 - kSeparatorShare : 1));
    if (edged) soften(first, 1 - kSeparatorShare);
    soften(last, box.right - static_cast<double>(last));
  }
}

// What a search did not find steps back.
void RowPainter::dim_others(const ViewState& state, std::vector<std::uint8_t> matching) {
  constexpr double kLeft = 0.22;  // of a colour that is no match
  const Rgb background = state.theme().background.rgb();
  matching_ = std::move(matching);
  mark_ = state.theme().marker.rgb();
  for (std::size_t x = 0; x < color_.size(); ++x)
    if (bar_[x] > 0 && matching_[x] == 0) color_[x] = blend(background, color_[x], kLeft);
}

void RowPainter::write_columns(QImage& image, int top, int height) const {
  const std::size_t width = color_.size();
  for (int line = 0; line < height; ++line) {
    const int y = top + line;
    if (y < 0 || y >= image.height()) continue;
    Rgb* pixels = scan_line(image, y);
    const int needed = height - line;  // bars of at least this height reach this line
    for (std::size_t x = 0; x < width; ++x)
      if (bar_[x] >= needed) pixels[x] = color_[x];
    if (needed > kMarkHeight) continue;
    for (std::size_t x = 0; x < matching_.size(); ++x)
      if (matching_[x] != 0) pixels[x] = mark_;
  }
}

void RowPainter::draw_labels(ViewState& state, QPainter& painter, double ratio, double top, double height, int width) {
  constexpr double kInset = 4;
  const Trace& trace = state.trace();
  for (std::size_t index = 0; index < pixels_->boxes.size(); ++index) {
    const Box& box = pixels_->boxes[index];
    double right = std::min<double>(box.right, width);
    if (index + 1 < pixels_->boxes.size()) right = std::min(right, std::max(pixels_->boxes[index + 1].left, box.left));
    const double left = std::max(0.0, box.left);
    const double room = (right - left) / ratio - 2 * kInset;
    if (room < kNarrowestLabel) continue;
    const std::string_view text = event_label(trace, box.kind, trace.event(box.event));
    if (!matching_.empty() && !state.matches().matches(box.name)) continue;
    const QStaticText* label = labels_.label(text, static_cast<int>(room));
    if (label == nullptr) continue;
    const Rgb color = colors_.color(trace, box.kind, box.name, nvtx_color(trace, box.kind, box.event), state.theme().scheme);
    painter.setPen(QColor::fromRgb(text_color_on(color)));
    painter.drawStaticText(QPointF(left / ratio + kInset, top + std::floor((height - labels_.line_height()) / 2)), *label);
  }
}

}  // namespace lanescope::timeline
