#include "painting/row_painter.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>

#include <QPainter>

#include "model/text/language.h"
#include "model/text/to_translate.h"
#include "painting/counter_painter.h"
#include "parts/ruler_bar.h"
#include "timeline/core/words/describe.h"
#include "timeline/core/words/given_names.h"

namespace lanescope::timeline {
namespace {

constexpr double kNarrowestLabel = 28;    // logical pixels
constexpr double kSeparatorShare = 0.42;  // of the background in the edge between boxes
constexpr int kLowestBar = 3;             // device pixels, so that small shares are visible
constexpr double kFirstBoxWithEdge = 5;   // device pixels
constexpr int kMarkHeight = 2;            // device pixels: the line below matches of a search
constexpr double kIdleShade = 0.30;       // opacity of a cause's colour if all of a column is idle
constexpr double kNarrowestCause = 110;   // logical pixels: narrower gaps get no label of their cause
constexpr double kWaitingShade = 0.72;    // share of the background between the hatching lines of waits for another rank
constexpr int kHatching = 6;              // logical pixels from line to line
constexpr double kLabelInset = 4;         // logical pixels
constexpr double kOpenEdge = 24;          // device pixels in which an open event fades
constexpr double kProfiledMark = 6;       // logical pixels: the sides of the corner that marks a profiled launch

Rgb* scan_line(QImage& image, int y) { return reinterpret_cast<Rgb*>(image.scanLine(y)); }

// A scan line with the grid lines at the ruler's ticks.
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
  given_names_.clear();
  waiting_name_.clear();
  colors_.clear();
  profiled_ = {};
  profiled_of_ = nullptr;
  answer_colors_.clear();
  call_colors_.clear();
}

// A picture that is being painted.
struct RowPainter::Picture {
  // A level of a row in device pixels, from its first line up to its last.
  struct Band {
    int first_line;
    int last_line;
    [[nodiscard]] int height() const noexcept { return last_line - first_line; }
  };
  // The labels of a level, which are drawn after all levels: scrolled rows lie below pinned ones.
  struct Labels {
    const PlacedRow* row;
    const LevelPixels* pixels;
    Band band;
    std::optional<IdleRow> idle;  // that is shaded
    std::vector<EventRef> open;
  };

  Picture(ViewState& view, QImage& to, const QFont& font)
      : state(view), image(to), painter(&to), ratio(to.devicePixelRatio()), viewport(Viewport{view.range(), to.width()}.on_grid()) {
    painter.setFont(font);
    const Ruler ruler = make_ruler(viewport, kTickSpacing * ratio);
    const Theme& theme = state.theme();
    plain = background_line(viewport, ruler, theme.background.rgb(), theme.grid.rgb());
    group = background_line(viewport, ruler, theme.group.rgb(), theme.grid.rgb());
    separator.assign(plain.size(), theme.separator.rgb());
    last_separator.assign(plain.size(), theme.quiet_text.rgb());
  }

  // Converts a position in logical pixels to device pixels.
  [[nodiscard]] int lineAt(double y) const { return static_cast<int>(std::lround(y * ratio)); }
  // The band of one of `levels` levels of a row.
  [[nodiscard]] Band bandOf(const PlacedRow& row, std::size_t level, std::size_t levels) const {
    const double top = state.topOf(row) + static_cast<double>(level) * row.level_height;
    return {lineAt(top + (level == 0 ? 2 : 1)), lineAt(top + row.level_height) - (levels == 1 ? 1 : 0)};
  }
  void fillDownTo(int line, const std::vector<Rgb>& background) {
    fill_lines(image, filled, line, background);
    filled = std::max(filled, line);
  }

  ViewState& state;
  QImage& image;
  QPainter painter;
  double ratio;
  Viewport viewport;
  std::vector<Rgb> plain, group;                                      // scan lines behind rows
  std::vector<Rgb> separator, last_separator;                         // the separators below each row, and below the last pinned row
  CounterSeries::Detail of_counters = CounterSeries::Detail::kExact;  // of those painted so far
  int filled = 0;                                                     // number of scan lines filled so far, from the top of the image
  std::vector<Labels> labels;
};

void RowPainter::paint(ViewState& state, QImage& image) {
  Picture picture(state, image, labels_.font());
  const int height = static_cast<int>(std::ceil(image.height() / picture.ratio));
  const std::vector<const PlacedRow*> shown = state.layout().in_sight(state.scroll(), height);
  std::vector<const Level*> levels;
  for (const PlacedRow* row : shown)
    for (const Level& level : RowLayout::levels_in_sight(*row, state.scroll(), height)) levels.push_back(&level);
  const Painted painted = state.painted(Pane::kRows, levels, picture.viewport);
  std::span<const LevelContent* const> contents = painted.contents;
  // Each scan line is written once, except those of scrolled rows below pinned rows, which cover them.
  int below = 0;
  for (const PlacedRow* row : shown) {
    const std::span<const Level> in_sight = RowLayout::levels_in_sight(*row, state.scroll(), height);
    paintRow(picture, *row, in_sight, painted, contents.first(in_sight.size()));
    contents = contents.subspan(in_sight.size());
    below = std::max(below, picture.filled);
  }
  state.setCountersDetail(picture.of_counters);
  picture.filled = below;
  picture.fillDownTo(image.height(), picture.plain);
  drawOver(picture);
}

void RowPainter::paintRow(Picture& picture, const PlacedRow& placed, std::span<const Level> levels, const Painted& painted,
                          std::span<const LevelContent* const> contents) {
  ViewState& state = picture.state;
  const Row& row = state.tree().row(placed.row);
  const AnswerRow* const answer = row.kind == RowKind::kAnswer ? state.answer().get() : nullptr;
  const bool groups = !row.counter && answer == nullptr && (placed.levels.empty() || row.levels.empty());
  const std::vector<Rgb>& background = groups ? picture.group : picture.plain;
  picture.filled = picture.lineAt(state.topOf(placed));
  subject_ = subjectOf(state, row);
  const auto first = static_cast<std::size_t>(levels.data() - placed.levels.data());
  for (std::size_t i = 0; i < levels.size(); ++i) paintEvents(picture, placed, first + i, painted, *contents[i], background);
  if (answer != nullptr) paintAnswer(picture, placed, *answer, background);
  const int bottom = picture.lineAt(state.topOf(placed) + placed.height);
  picture.fillDownTo(bottom - 1, background);
  if (row.counter) {
    const int top = picture.lineAt(state.topOf(placed) + 2);
    const int height = picture.lineAt(state.topOf(placed) + placed.height - 1) - top;
    if (paint_counter(state, picture.painter, *row.counter, picture.viewport, picture.image, top, height) == CounterSeries::Detail::kOutline)
      picture.of_counters = CounterSeries::Detail::kOutline;
  }
  const bool is_last_pinned = placed.is_pinned() && placed.top + placed.height == state.layout().pinned_height();
  fill_lines(picture.image, bottom - 1, bottom, is_last_pinned ? picture.last_separator : picture.separator);
  picture.filled = bottom;
}

void RowPainter::paintEvents(Picture& picture, const PlacedRow& row, std::size_t level, const Painted& painted, const LevelContent& content,
                             const std::vector<Rgb>& background) {
  ViewState& state = picture.state;
  const Picture::Band band = picture.bandOf(row, level, row.levels.size());
  picture.fillDownTo(band.first_line, background);
  picture.filled = band.last_line;
  const std::size_t sharers = sharers_of(state.tree().row(row.row));
  const std::optional<GpuId> gpu = state.idleTime() != nullptr ? gpu_of(state, row) : std::nullopt;
  std::optional<IdleRow> idle;
  if (gpu) idle = IdleRow{*gpu, state.idleTime()->columns(*gpu, picture.viewport)};
  std::vector<float> waiting;
  if (state.communicationTime() != nullptr) waiting = state.communicationTime()->waiting_columns(row.levels[level], picture.viewport);
  open_ = state.openEventsOf(row.levels[level]);
  paintSubject(state, *painted.rasterizer, content, picture.viewport, picture.image, band.first_line, band.height(),
               idle ? shadeIdleTime(state, idle->columns, background) : background, sharers, waiting);
  if (sharers == 1 && painted.detail == Painted::Detail::kExact) picture.labels.push_back({&row, pixels_, band, std::move(idle), std::move(open_)});
  open_.clear();
}

void RowPainter::paintAnswer(Picture& picture, const PlacedRow& row, const AnswerRow& answer, const std::vector<Rgb>& background) {
  for (std::size_t level = 0; level < answer.levels().size(); ++level) {
    const Picture::Band band = picture.bandOf(row, level, answer.levels().size());
    picture.fillDownTo(band.first_line, background);
    picture.filled = band.last_line;
    const std::vector<const LevelContent*> only{&answer.levels()[level]};
    answer_pixels_.prepare(only, picture.viewport);
    paintSubject(picture.state, answer_pixels_, *only.front(), picture.viewport, picture.image, band.first_line, band.height(), background, 1, {});
    picture.labels.push_back({&row, pixels_, band, std::nullopt, {}});
  }
}

void RowPainter::drawOver(Picture& picture) {
  const double ratio = picture.ratio;
  const int pinned = picture.state.layout().pinned_height();
  bool clipped = false;
  for (const Picture::Labels& each : picture.labels) {
    if (const bool clips = pinned > 0 && !each.row->is_pinned(); clips != clipped) {
      picture.painter.setClipRect(QRectF(0, clips ? pinned : 0, picture.image.width() / ratio, picture.image.height() / ratio));
      clipped = clips;
    }
    pixels_ = each.pixels;
    open_ = each.open;
    subject_ = subjectOf(picture.state, picture.state.tree().row(each.row->row));
    const double top = each.band.first_line / ratio, height = each.band.height() / ratio;
    if (each.idle) drawCauses(picture.state, picture.painter, *each.idle, picture.viewport, ratio, top, height);
    drawLabels(picture.state, picture.painter, ratio, top, height, picture.viewport);
    drawOpenLabels(picture.state, picture.painter, ratio, top, height, picture.viewport);
  }
  open_.clear();
}

void RowPainter::paintLevel(ViewState& state, LevelRasterizer& rasterizer, const LevelContent& content, const Viewport& viewport, QImage& image, int top,
                            int height, const std::vector<Rgb>& background) {
  subject_ = {&state.trace(), &colors_};
  paintSubject(state, rasterizer, content, viewport, image, top, height, background, 1, {});
}

void RowPainter::paintSubject(ViewState& state, LevelRasterizer& rasterizer, const LevelContent& content, const Viewport& viewport, QImage& image, int top,
                              int height, const std::vector<Rgb>& background, std::size_t sharers, const std::vector<float>& waiting) {
  pixels_ = &rasterizer.rasterize(content, viewport);
  if (height <= 0) return;
  colorColumns(state, viewport, height, sharers);
  if (sharers == 1) colorBoxes(state, height);
  extendOpen(state, viewport, height);
  matching_.clear();
  if (!state.matches().text().empty() && subject_.kind != Subject::Kind::kAnswer) dimOthers(state, rasterizer.matching_columns(content, state.matches()));
  fadeWaiting(state, waiting);
  writeColumns(image, top, height, background);
}

std::vector<Rgb> RowPainter::shadeIdleTime(const ViewState& state, std::span<const IdleTime::Column> columns, std::vector<Rgb> background) {
  for (std::size_t x = 0; x < columns.size(); ++x)
    if (columns[x].share > 0) background[x] = blend(background[x], idle_color(columns[x].cause, state.theme().scheme), kIdleShade * columns[x].share);
  return background;
}

// In gaps that are wide enough: "Running CPU code".
void RowPainter::drawCauses(const ViewState& state, QPainter& painter, const IdleRow& idle, const Viewport& viewport, double ratio, double top, double height) {
  constexpr double kInset = 4;
  painter.setPen(state.theme().quiet_text);
  const auto narrowest = static_cast<std::int32_t>(std::ceil((kNarrowestCause + 2 * kInset) * ratio));
  for (const IdleTime::Stretch& stretch : state.idleTime()->stretches(idle.gpu, viewport, idle.columns, narrowest)) {
    const auto [name, is_new] = cause_names_.try_emplace(stretch.cause);
    if (is_new) name->second = shown_language().translate(analysis::idle_cause_name(stretch.cause));
    const double room = (stretch.right - stretch.left) / ratio - 2 * kInset;
    labels_.draw(painter, name->second, static_cast<int>(room), QPointF(stretch.left / ratio + kInset, top), height);
  }
}

RowPainter::Subject RowPainter::subjectOf(const ViewState& state, const Row& row) {
  if (row.kind == RowKind::kStackChart) return {&state.trace(), &colors_, Subject::Kind::kCalls};
  if (row.kind != RowKind::kAnswer) return {&state.trace(), &colors_};
  if (answer_.lock() != state.answer()) {  // another answer may have its contents at the same addresses
    answer_ = state.answer();
    labels_.clear();
    answer_colors_.clear();
    answer_pixels_ = {};
  }
  return {&state.answer()->ranges(), &answer_colors_, Subject::Kind::kAnswer};
}

// The colour of an event, a call or a range of an answer.
Rgb RowPainter::colorOf(TrackKind kind, NameId name, DetailId detail, ColorScheme scheme) {
  if (subject_.kind != Subject::Kind::kCalls) return subject_.colors->color(*subject_.trace, kind, name, nvtxColor(*subject_.trace, kind, detail), scheme);
  const auto [found, is_new] = call_colors_.try_emplace({name, detail});
  if (is_new) found->second = call_color(detail == 0 ? CodeKind::kNative : static_cast<CodeKind>(detail - 1), subject_.trace->name(name), scheme);
  return found->second;
}

std::uint32_t RowPainter::nvtxColor(const Trace& trace, TrackKind kind, DetailId detail) {
  if (!has_own_colors(kind)) return 0;
  return detail == 0 ? 0 : trace.nvtx_detail(detail).color;
}

// The height of a column shows how busy it is, the colour the name with most of the time.
void RowPainter::colorColumns(const ViewState& state, const Viewport& viewport, int height, std::size_t sharers) {
  const ColorScheme scheme = state.theme().scheme;
  const double step = viewport.step();
  color_.assign(static_cast<std::size_t>(pixels_->width()), 0);
  bar_.assign(static_cast<std::size_t>(pixels_->width()), 0);
  pixels_->for_each_column([&](std::int32_t at, const Column& column) {
    if (!column.longest.valid()) return;
    const auto x = static_cast<std::size_t>(at);
    const bool instants = column.busy == 0;
    const double share = busy_share(column, step, sharers);
    const int tick = column.kind == TrackKind::kCpuSamples ? (height + 1) / 2 : height;  // samples are numerous, and a single one says little
    bar_[x] = instants ? tick : std::max(std::min(kLowestBar, height), static_cast<int>(std::lround(share * height)));
    if (!instants && !has_dominant(column)) {
      color_[x] = mixed_color(column.kind, scheme);
      return;
    }
    const bool is_longest = column.longest_name == column.dominant || subject_.kind == Subject::Kind::kCalls;
    color_[x] = colorOf(column.kind, column.dominant, is_longest ? column.longest_detail : 0, scheme);
  });
}

// Events that are seen singly are full boxes: columns that they fill only partly become paler instead of lower.
void RowPainter::colorBoxes(const ViewState& state, int height) {
  const Rgb background = state.theme().background.rgb();
  const std::int64_t width = pixels_->width();
  for (const Box& box : pixels_->boxes()) {
    const Rgb color = colorOf(box.kind, box.name, box.detail, state.theme().scheme);
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

void RowPainter::extendOpen(const ViewState& state, const Viewport& viewport, int height) {
  const Rgb background = state.theme().background.rgb();
  for (const EventRef open : open_) {
    const Event event = state.trace().event(open);
    const Rgb color = colorOf(state.trace().track_of(open.lane).key.kind, event.name, event.detail, state.theme().scheme);
    const double now = viewport.x_at(*state.clock());
    const auto first = static_cast<std::int64_t>(std::max(0.0, std::floor(viewport.x_at(event.end()))));
    const auto last = std::min(static_cast<std::int64_t>(std::ceil(now)), static_cast<std::int64_t>(color_.size()));
    const double edge = std::min(kOpenEdge, now - viewport.x_at(event.start));
    for (std::int64_t x = first; x < last; ++x) {
      const auto at = static_cast<std::size_t>(x);
      color_[at] = blend(background, color, std::clamp((now - static_cast<double>(x)) / std::max(1.0, edge), 0.0, 1.0));
      bar_[at] = height;
    }
  }
}

// Events that a search did not find are dimmed.
void RowPainter::dimOthers(const ViewState& state, std::vector<std::uint8_t> matching) {
  constexpr double kLeft = 0.22;  // share of the colour that is left
  const Rgb background = state.theme().background.rgb();
  matching_ = std::move(matching);
  mark_ = state.theme().marker.rgb();
  for (std::size_t x = 0; x < color_.size(); ++x)
    if (bar_[x] > 0 && matching_[x] == 0) color_[x] = blend(background, color_[x], kLeft);
}

// Time that waits for another rank is hatched, so that it can be recognised without colours, too.
void RowPainter::fadeWaiting(const ViewState& state, const std::vector<float>& waiting) {
  faded_.clear();
  if (waiting.size() != color_.size()) return;
  const Rgb background = state.theme().background.rgb();
  faded_ = color_;
  for (std::size_t x = 0; x < faded_.size(); ++x)
    if (waiting[x] > 0) faded_[x] = blend(color_[x], background, kWaitingShade * std::min(1.0F, waiting[x]));
}

void RowPainter::writeColumns(QImage& image, int top, int height, const std::vector<Rgb>& background) const {
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

// Names that we give are translated. Kernels are shown with their template arguments if there is room, because the arguments distinguish instances of a
// template.
std::string_view RowPainter::labelOf(const Trace& trace, const Box& box) {
  if (has_given_names(box.kind)) {
    const auto [given, is_new_name] = given_names_.try_emplace(box.name);
    if (is_new_name) given->second = shown_language().translate(trace.name(box.name));
    return given->second;
  }
  if (box.kind != TrackKind::kKernels) return event_label(trace, box.kind, {.name = box.name, .detail = box.detail});
  const auto [found, is_new] = kernel_names_.try_emplace(box.name);
  if (is_new) found->second = compact_kernel_name(trace.name(box.name));
  return found->second;
}

void RowPainter::drawLabel(QPainter& painter, std::string_view text, const QColor& color, double left, double room, double top, double height) {
  if (room < kNarrowestLabel) return;
  painter.setPen(color);
  labels_.draw(painter, text, static_cast<int>(room), QPointF(left + kLabelInset, top), height);
}

void RowPainter::drawProfiledMark(const ViewState& state, QPainter& painter, const Box& box, double ratio, double top) {
  const double left = box.left / ratio;
  if (box.left < 0 || (box.right - box.left) / ratio < kProfiledMark || !profiled_.contains(state.trace(), box.event)) return;
  const Rgb color = colors_.color(state.trace(), box.kind, box.name, 0, state.theme().scheme);
  const QPointF corner[]{{left, top}, {left + kProfiledMark, top}, {left, top + kProfiledMark}};
  painter.setPen(Qt::NoPen);
  painter.setBrush(QColor::fromRgb(text_color_on(color)));
  painter.drawPolygon(corner, 3);
}

void RowPainter::drawOpenLabels(ViewState& state, QPainter& painter, double ratio, double top, double height, const Viewport& viewport) {
  for (const EventRef open : open_) {
    const std::vector<Box>& boxes = pixels_->boxes();
    if (std::any_of(boxes.begin(), boxes.end(), [&](const Box& box) { return box.event == open; })) continue;
    const Event event = state.trace().event(open);
    const TrackKind kind = state.trace().track_of(open.lane).key.kind;
    const double left = std::max(0.0, viewport.x_at(event.end())), right = std::min<double>(viewport.x_at(*state.clock()), viewport.width);
    const QColor color = QColor::fromRgb(text_color_on(colorOf(kind, event.name, event.detail, state.theme().scheme)));
    drawLabel(painter, event_label(state.trace(), kind, event), color, left / ratio, (right - left) / ratio - 2 * kLabelInset, top, height);
  }
}

void RowPainter::drawLabels(ViewState& state, QPainter& painter, double ratio, double top, double height, const Viewport& viewport) {
  if (const KernelRecords& records = state.trace().kernel_records(); profiled_of_ != &records) {
    profiled_ = ProfiledLaunches(records);
    profiled_of_ = &records;
  }
  const bool are_events = subject_.kind != Subject::Kind::kAnswer;
  const std::vector<Box>& boxes = pixels_->boxes();
  for (std::size_t index = 0; index < boxes.size(); ++index) {
    const Box& box = boxes[index];
    if (subject_.kind == Subject::Kind::kEvents) drawProfiledMark(state, painter, box, ratio, top);
    double right = std::min<double>(box.right, viewport.width);
    if (index + 1 < boxes.size()) right = std::min(right, std::max(boxes[index + 1].left, box.left));
    if (std::find(open_.begin(), open_.end(), box.event) != open_.end()) right = std::clamp<double>(viewport.x_at(*state.clock()), right, viewport.width);
    double left = std::max(0.0, box.left);
    const auto room = [&](double until) { return (until - left) / ratio - 2 * kLabelInset; };
    if (room(right) < kNarrowestLabel) continue;
    if (are_events && !state.matches().text().empty() && !state.matches().matches(box.name)) continue;
    if (const auto wait = are_events ? state.waitOf(box.event) : std::nullopt) {
      const double transfer = std::clamp(viewport.x_at(wait->end), left, right);
      if (waiting_name_.empty()) waiting_name_ = shown_language().translate(to_translate("Waits for another rank"));
      drawLabel(painter, waiting_name_, state.theme().text, left / ratio, room(transfer), top, height);
      left = transfer;
    }
    const Rgb color = colorOf(box.kind, box.name, box.detail, state.theme().scheme);
    drawLabel(painter, labelOf(*subject_.trace, box), QColor::fromRgb(text_color_on(color)), left / ratio, room(right), top, height);
  }
}

}  // namespace lanescope::timeline
