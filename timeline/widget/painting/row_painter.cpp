#include "painting/row_painter.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include <QPainter>

#include "model/text/language.h"
#include "model/text/to_translate.h"
#include "painting/counter_painter.h"
#include "parts/ruler_bar.h"
#include "timeline/core/words/describe.h"

namespace lanescope::timeline {
namespace {

constexpr double kNarrowestLabel = 28;    // logical pixels
constexpr double kSeparatorShare = 0.42;  // of the background in the edge between boxes
constexpr int kLowestBar = 3;             // device pixels: little is still seen
constexpr double kFirstBoxWithEdge = 5;   // device pixels
constexpr int kMarkHeight = 2;            // device pixels: the line below what a search found
constexpr double kIdleShade = 0.30;       // of a cause's colour where all of a column is idle
constexpr double kNarrowestCause = 110;   // logical pixels of a gap in which its cause is written
constexpr double kWaitingShade = 0.72;    // of the background in what waits for another rank, between the lines of its hatching
constexpr int kHatching = 6;              // logical pixels from line to line
constexpr double kLabelInset = 4;         // logical pixels
constexpr double kProfiledMark = 6;       // logical pixels: the sides of the corner that says that a launch was profiled

bool is_nvtx(TrackKind kind) { return kind == TrackKind::kNvtxRanges || kind == TrackKind::kNvtxProcessRanges || kind == TrackKind::kNvtxMarks; }

Rgb* scan_line(QImage& image, int y) { return reinterpret_cast<Rgb*>(image.scanLine(y)); }

// A scan line with the lines of the ruler's ticks.
std::vector<Rgb> background_line(const Viewport& viewport, const Ruler& ruler, Rgb color, Rgb grid) {
  std::vector<Rgb> line(static_cast<std::size_t>(viewport.width), color);
  for (const Tick& tick : ruler.ticks) {
    const auto x = static_cast<std::int64_t>(viewport.x_at(tick.time));
    if (x >= 0 && x < viewport.width) line[static_cast<std::size_t>(x)] = grid;
  }
  return line;
}

void fill_lines(QImage& image, int top, int bottom, const std::vector<Rgb>& line) {
  for (int y = std::max(0, top); y < std::min(bottom, image.height()); ++y) std::memcpy(image.scanLine(y), line.data(), line.size() * sizeof(Rgb));
}

}  // namespace

void RowPainter::forget() {
  labels_.clear();
  kernel_names_.clear();
  state_names_.clear();
  waiting_name_.clear();
  colors_.clear();
  profiled_ = {};
  profiled_of_ = nullptr;
  answer_colors_.clear();
  call_colors_.clear();
}

void RowPainter::paint(ViewState& state, QImage& image) {
  const double ratio = image.devicePixelRatio();
  const Viewport viewport = Viewport{state.range(), image.width()}.on_grid();
  QPainter painter(&image);
  painter.setFont(labels_.font());
  const int height = static_cast<int>(std::ceil(image.height() / ratio));
  const std::vector<const PlacedRow*> shown = state.layout().in_sight(state.scroll(), height);
  const auto levels_of = [&](const PlacedRow& row) { return RowLayout::levels_in_sight(row, state.scroll(), height); };
  std::vector<const Level*> levels;
  for (const PlacedRow* row : shown)
    for (const Level& level : levels_of(*row)) levels.push_back(&level);
  const Painted painted_levels = state.painted(Pane::kRows, levels, viewport);
  auto content = painted_levels.contents.begin();
  const Ruler ruler = make_ruler(viewport, kTickSpacing * ratio);
  const Theme& theme = state.theme();
  const auto width = static_cast<std::size_t>(viewport.width);
  const std::vector<Rgb> plain = background_line(viewport, ruler, theme.background.rgb(), theme.grid.rgb());
  const std::vector<Rgb> group = background_line(viewport, ruler, theme.group.rgb(), theme.grid.rgb());
  const std::vector<Rgb> separator(width, theme.separator.rgb());
  const std::vector<Rgb> last_separator(width, theme.quiet_text.rgb());
  const auto line_at = [ratio](double y) { return static_cast<int>(std::lround(y * ratio)); };
  struct Labels {
    const PlacedRow* row;
    const LevelPixels* pixels;
    int top;
    int height;
    std::optional<IdleRow> idle;  // that is shaded
  };
  std::vector<Labels> labels;
  // Each scan line is written once, but for what is scrolled below pinned rows, which cover it.
  int below = 0;
  for (const PlacedRow* each : shown) {
    const PlacedRow& row = *each;
    const auto counter = state.tree().row(row.row).counter;
    const AnswerRow* const answer = state.tree().row(row.row).kind == RowKind::kAnswer ? state.answer().get() : nullptr;
    const bool groups = !counter && answer == nullptr && (row.levels.empty() || state.tree().row(row.row).levels.empty());
    const std::vector<Rgb>& background = groups ? group : plain;
    int line = line_at(state.top_of(row));
    const int bottom = line_at(state.top_of(row) + row.height);
    subject_ = subject_of(state, state.tree().row(row.row));
    const std::span<const Level> painted = levels_of(row);
    const auto first_painted = static_cast<std::size_t>(painted.data() - row.levels.data());
    for (std::size_t index = first_painted; index < first_painted + painted.size(); ++index) {
      const double top = state.top_of(row) + static_cast<double>(index) * row.level_height;
      const int first_line = line_at(top + (index == 0 ? 2 : 1));
      const int last_line = line_at(top + row.level_height) - (row.levels.size() == 1 ? 1 : 0);
      fill_lines(image, line, first_line, background);
      line = last_line;
      const std::size_t sharers = sharers_of(state.tree().row(row.row));
      const std::optional<GpuId> gpu = state.idle_time() != nullptr ? gpu_of(state, row) : std::nullopt;
      std::optional<IdleRow> idle;
      if (gpu) idle = IdleRow{*gpu, state.idle_time()->columns(*gpu, viewport)};
      paint_subject(state, *painted_levels.rasterizer, **content++, viewport, image, first_line, last_line - first_line,
                    idle ? shade_idle_time(state, idle->columns, background) : background, sharers,
                    state.communication_time() != nullptr ? state.communication_time()->waiting_columns(row.levels[index], viewport) : std::vector<float>());
      if (sharers == 1 && painted_levels.detail == Painted::Detail::kExact)
        labels.push_back({each, pixels_, first_line, last_line - first_line, std::move(idle)});
    }
    for (std::size_t index = 0; answer != nullptr && index < answer->levels().size(); ++index) {
      const double top = state.top_of(row) + static_cast<double>(index) * row.level_height;
      const int first_line = line_at(top + (index == 0 ? 2 : 1));
      const int last_line = line_at(top + row.level_height) - (answer->levels().size() == 1 ? 1 : 0);
      fill_lines(image, line, first_line, background);
      line = last_line;
      const std::vector<const LevelContent*> only{&answer->levels()[index]};
      answer_pixels_.prepare(only, viewport);
      paint_subject(state, answer_pixels_, *only.front(), viewport, image, first_line, last_line - first_line, background, 1, {});
      labels.push_back({each, pixels_, first_line, last_line - first_line, std::nullopt});
    }
    fill_lines(image, line, bottom - 1, background);
    if (counter) {
      const int first_line = line_at(state.top_of(row) + 2);
      paint_counter(state, painter, *counter, viewport, image, first_line, line_at(state.top_of(row) + row.height - 1) - first_line);
    }
    const bool last_pinned = row.is_pinned() && row.top + row.height == state.layout().pinned_height();
    fill_lines(image, bottom - 1, bottom, last_pinned ? last_separator : separator);
    below = std::max(below, bottom);
  }
  fill_lines(image, below, image.height(), plain);

  const int pinned = state.layout().pinned_height();
  bool clipped = false;
  for (const Labels& each : labels) {
    if (const bool clips = pinned > 0 && !each.row->is_pinned(); clips != clipped) {
      painter.setClipRect(QRectF(0, clips ? pinned : 0, image.width() / ratio, image.height() / ratio));
      clipped = clips;
    }
    pixels_ = each.pixels;
    subject_ = subject_of(state, state.tree().row(each.row->row));
    if (each.idle) draw_causes(state, painter, *each.idle, viewport, ratio, each.top / ratio, each.height / ratio);
    draw_labels(state, painter, ratio, each.top / ratio, each.height / ratio, viewport);
  }
}

void RowPainter::paint_level(ViewState& state, LevelRasterizer& rasterizer, const LevelContent& content, const Viewport& viewport, QImage& image, int top,
                             int height, const std::vector<Rgb>& background) {
  subject_ = {&state.trace(), &colors_};
  paint_subject(state, rasterizer, content, viewport, image, top, height, background, 1, {});
}

void RowPainter::paint_subject(ViewState& state, LevelRasterizer& rasterizer, const LevelContent& content, const Viewport& viewport, QImage& image, int top,
                               int height, const std::vector<Rgb>& background, std::size_t sharers, const std::vector<float>& waiting) {
  pixels_ = &rasterizer.rasterize(content, viewport);
  if (height <= 0) return;
  color_columns(state, viewport, height, sharers);
  if (sharers == 1) color_boxes(state, height);
  matching_.clear();
  if (!state.matches().text().empty() && subject_.kind != Subject::Kind::kAnswer) dim_others(state, rasterizer.matching_columns(content, state.matches()));
  fade_waiting(state, waiting);
  write_columns(image, top, height, background);
}

std::vector<Rgb> RowPainter::shade_idle_time(const ViewState& state, std::span<const IdleTime::Column> columns, std::vector<Rgb> background) {
  for (std::size_t x = 0; x < columns.size(); ++x)
    if (columns[x].share > 0) background[x] = blend(background[x], idle_color(columns[x].cause, state.theme().scheme), kIdleShade * columns[x].share);
  return background;
}

// In gaps that are wide enough: "Running CPU code".
void RowPainter::draw_causes(const ViewState& state, QPainter& painter, const IdleRow& idle, const Viewport& viewport, double ratio, double top,
                             double height) {
  constexpr double kInset = 4;
  painter.setPen(state.theme().quiet_text);
  const auto narrowest = static_cast<std::int32_t>(std::ceil((kNarrowestCause + 2 * kInset) * ratio));
  for (const IdleTime::Stretch& stretch : state.idle_time()->stretches(idle.gpu, viewport, idle.columns, narrowest)) {
    const auto [name, is_new] = cause_names_.try_emplace(stretch.cause);
    if (is_new) name->second = shown_language().translate(analysis::idle_cause_name(stretch.cause));
    const double room = (stretch.right - stretch.left) / ratio - 2 * kInset;
    labels_.draw(painter, name->second, static_cast<int>(room), QPointF(stretch.left / ratio + kInset, top), height);
  }
}

RowPainter::Subject RowPainter::subject_of(const ViewState& state, const Row& row) {
  if (row.kind == RowKind::kStackChart) return {&state.trace(), &colors_, Subject::Kind::kCalls};
  if (row.kind != RowKind::kAnswer) return {&state.trace(), &colors_};
  if (answer_.lock() != state.answer()) {  // another one may have its contents where those before were
    answer_ = state.answer();
    labels_.clear();
    answer_colors_.clear();
    answer_pixels_ = {};
  }
  return {&state.answer()->ranges(), &answer_colors_, Subject::Kind::kAnswer};
}

// What an event, a call or a range of an answer is painted in.
Rgb RowPainter::color_of(TrackKind kind, NameId name, DetailId detail, ColorScheme scheme) {
  if (subject_.kind != Subject::Kind::kCalls) return subject_.colors->color(*subject_.trace, kind, name, nvtx_color(*subject_.trace, kind, detail), scheme);
  const auto [found, is_new] = call_colors_.try_emplace({name, detail});
  if (is_new) found->second = call_color(detail == 0 ? CodeKind::kNative : static_cast<CodeKind>(detail - 1), subject_.trace->name(name), scheme);
  return found->second;
}

std::uint32_t RowPainter::nvtx_color(const Trace& trace, TrackKind kind, DetailId detail) {
  if (!is_nvtx(kind)) return 0;
  return detail == 0 ? 0 : trace.nvtx_detail(detail).color;
}

// Height says how busy a column is, colour who holds most of it.
void RowPainter::color_columns(const ViewState& state, const Viewport& viewport, int height, std::size_t sharers) {
  const ColorScheme scheme = state.theme().scheme;
  const double step = viewport.step();
  color_.assign(static_cast<std::size_t>(pixels_->width()), 0);
  bar_.assign(static_cast<std::size_t>(pixels_->width()), 0);
  pixels_->for_each_column([&](std::int32_t at, const Column& column) {
    if (!column.longest.valid()) return;
    const auto x = static_cast<std::size_t>(at);
    const bool instants = column.busy == 0;
    const double share = busy_share(column, step, sharers);
    const int tick = column.kind == TrackKind::kCpuSamples ? (height + 1) / 2 : height;  // samples are many, and say little by themselves
    bar_[x] = instants ? tick : std::max(std::min(kLowestBar, height), static_cast<int>(std::lround(share * height)));
    if (!instants && !has_dominant(column)) {
      color_[x] = mixed_color(column.kind, scheme);
      return;
    }
    const bool is_longest = column.longest_name == column.dominant || subject_.kind == Subject::Kind::kCalls;
    color_[x] = color_of(column.kind, column.dominant, is_longest ? column.longest_detail : 0, scheme);
  });
}

// Events seen singly are full boxes: the columns that they fill in part become softer instead of lower.
void RowPainter::color_boxes(const ViewState& state, int height) {
  const Rgb background = state.theme().background.rgb();
  const std::int64_t width = pixels_->width();
  for (const Box& box : pixels_->boxes()) {
    const Rgb color = color_of(box.kind, box.name, box.detail, state.theme().scheme);
    const auto first = static_cast<std::int64_t>(std::ceil(box.left));
    const auto last = static_cast<std::int64_t>(std::floor(box.right));
    for (std::int64_t x = std::max<std::int64_t>(0, first); x < std::min(last, width); ++x) {
      color_[static_cast<std::size_t>(x)] = color;
      bar_[static_cast<std::size_t>(x)] = height;
    }
    const auto soften = [&](std::int64_t x, double share) {
      if (x < 0 || x >= width || share <= 0) return;
      const auto at = static_cast<std::size_t>(x);
      const Column& column = pixels_->column(static_cast<std::int32_t>(x));
      if (column.count + column.carried > 2) return;
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

// What waits for another rank is hatched, so that it is told apart without colours, too.
void RowPainter::fade_waiting(const ViewState& state, const std::vector<float>& waiting) {
  faded_.clear();
  if (waiting.size() != color_.size()) return;
  const Rgb background = state.theme().background.rgb();
  faded_ = color_;
  for (std::size_t x = 0; x < faded_.size(); ++x)
    if (waiting[x] > 0) faded_[x] = blend(color_[x], background, kWaitingShade * std::min(1.0F, waiting[x]));
}

void RowPainter::write_columns(QImage& image, int top, int height, const std::vector<Rgb>& background) const {
  const std::size_t width = color_.size();
  const Rgb* colors = color_.data();
  const Rgb* behind = background.data();
  const int* bars = bar_.data();
  for (int line = std::max(0, -top); line < std::min(height, image.height() - top); ++line) {
    Rgb* pixels = scan_line(image, top + line);
    const int needed = height - line;  // bars of at least this height reach this line
    if (faded_.empty()) {
      for (std::size_t x = 0; x < width; ++x) pixels[x] = bars[x] >= needed ? colors[x] : behind[x];
    } else {
      const auto step = static_cast<std::size_t>(std::lround(kHatching * image.devicePixelRatio()));
      const std::size_t offset = static_cast<std::size_t>(top + line) % step;
      for (std::size_t x = 0; x < width; ++x) pixels[x] = bars[x] < needed ? behind[x] : (x + offset) % step < step / 3 ? colors[x] : faded_[x];
    }
    if (needed > kMarkHeight) continue;
    for (std::size_t x = 0; x < matching_.size(); ++x)
      if (matching_[x] != 0) pixels[x] = mark_;
  }
}

// States of threads are words of ours. Kernels with the arguments of their templates, where there is room: they tell instances of one template apart.
std::string_view RowPainter::label_of(const Trace& trace, const Box& box) {
  if (box.kind == TrackKind::kThreadStates) {
    const auto [state, is_new_state] = state_names_.try_emplace(box.name);
    if (is_new_state) state->second = shown_language().translate(trace.name(box.name));
    return state->second;
  }
  if (box.kind != TrackKind::kKernels) return event_label(trace, box.kind, {.name = box.name, .detail = box.detail});
  const auto [found, is_new] = kernel_names_.try_emplace(box.name);
  if (is_new) found->second = compact_kernel_name(trace.name(box.name));
  return found->second;
}

void RowPainter::draw_label(QPainter& painter, std::string_view text, const QColor& color, double left, double room, double top, double height) {
  if (room < kNarrowestLabel) return;
  painter.setPen(color);
  labels_.draw(painter, text, static_cast<int>(room), QPointF(left + kLabelInset, top), height);
}

void RowPainter::draw_profiled_mark(const ViewState& state, QPainter& painter, const Box& box, double ratio, double top) {
  const double left = box.left / ratio;
  if (box.left < 0 || (box.right - box.left) / ratio < kProfiledMark || !profiled_.contains(state.trace(), box.event)) return;
  const Rgb color = colors_.color(state.trace(), box.kind, box.name, 0, state.theme().scheme);
  const QPointF corner[]{{left, top}, {left + kProfiledMark, top}, {left, top + kProfiledMark}};
  painter.setPen(Qt::NoPen);
  painter.setBrush(QColor::fromRgb(text_color_on(color)));
  painter.drawPolygon(corner, 3);
}

void RowPainter::draw_labels(ViewState& state, QPainter& painter, double ratio, double top, double height, const Viewport& viewport) {
  if (const KernelRecords& records = state.trace().kernel_records(); profiled_of_ != &records) {
    profiled_ = ProfiledLaunches(records);
    profiled_of_ = &records;
  }
  const bool are_events = subject_.kind != Subject::Kind::kAnswer;
  const std::vector<Box>& boxes = pixels_->boxes();
  for (std::size_t index = 0; index < boxes.size(); ++index) {
    const Box& box = boxes[index];
    if (subject_.kind == Subject::Kind::kEvents) draw_profiled_mark(state, painter, box, ratio, top);
    double right = std::min<double>(box.right, viewport.width);
    if (index + 1 < boxes.size()) right = std::min(right, std::max(boxes[index + 1].left, box.left));
    double left = std::max(0.0, box.left);
    const auto room = [&](double until) { return (until - left) / ratio - 2 * kLabelInset; };
    if (room(right) < kNarrowestLabel) continue;
    if (are_events && !state.matches().text().empty() && !state.matches().matches(box.name)) continue;
    if (const auto wait = are_events ? state.wait_of(box.event) : std::nullopt) {
      const double transfer = std::clamp(viewport.x_at(wait->end), left, right);
      if (waiting_name_.empty()) waiting_name_ = shown_language().translate(to_translate("Waits for another rank"));
      draw_label(painter, waiting_name_, state.theme().text, left / ratio, room(transfer), top, height);
      left = transfer;
    }
    const Rgb color = color_of(box.kind, box.name, box.detail, state.theme().scheme);
    draw_label(painter, label_of(*subject_.trace, box), QColor::fromRgb(text_color_on(color)), left / ratio, room(right), top, height);
  }
}

}  // namespace lanescope::timeline
