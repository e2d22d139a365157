// Paints rows into an image of device pixels: columns straight into its scan lines, labels on top. Knows no input and no selection.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <QImage>

#include "painting/color_cache.h"
#include "painting/label_cache.h"
#include "timeline/core/lanes/profiled_launches.h"
#include "timeline/core/pixels/level_pixels.h"
#include "timeline/core/pixels/ruler.h"
#include "view/view_state.h"

class QPainter;

namespace lanescope::timeline {

class RowPainter {
 public:
  explicit RowPainter(const QFont& font) : labels_(font) {}

  // Fills the image (RGB32, its device pixel ratio set) with the rows that the state shows from its scroll position on.
  void paint(ViewState& state, QImage& image);
  // The trace or the theme is another one.
  void forget();
  void set_font(const QFont& font) { labels_.set_font(font); }
  // Paints one level, which the rasterizer has, into [top, top + height) device pixels, as rows do it: for the minimap. `background`: what is behind
  // it, a scan line.
  void paint_level(ViewState& state, LevelRasterizer& rasterizer, const LevelContent& content, const Viewport& viewport, QImage& image, int top, int height,
                   const std::vector<Rgb>& background);

 private:
  // Whose levels are painted. Ranges of an answer are no events: they are not searched, and nothing is known of them.
  struct Subject {
    const Trace* trace = nullptr;
    ColorCache* colors = nullptr;
    enum class Kind { kEvents, kCalls, kAnswer } kind = Kind::kEvents;
  };
  // As paint_level(), of the subject. `sharers`: where columns are as high as the mean of so many, not as their union. `waiting`: how much of each
  // column waits for another rank, which is hatched; none: nothing does.
  void paint_subject(ViewState& state, LevelRasterizer& rasterizer, const LevelContent& content, const Viewport& viewport, QImage& image, int top, int height,
                     const std::vector<Rgb>& background, std::size_t sharers, const std::vector<float>& waiting);
  [[nodiscard]] Subject subject_of(const ViewState& state, const Row& row);
  [[nodiscard]] Rgb color_of(TrackKind kind, NameId name, DetailId detail, ColorScheme scheme);
  void color_columns(const ViewState& state, const Viewport& viewport, int height, std::size_t sharers);
  void color_boxes(const ViewState& state, int height);
  void dim_others(const ViewState& state, std::vector<std::uint8_t> matching);
  void fade_waiting(const ViewState& state, const std::vector<float>& waiting);
  void write_columns(QImage& image, int top, int height, const std::vector<Rgb>& background) const;
  void draw_labels(ViewState& state, QPainter& painter, double ratio, double top, double height, const Viewport& viewport);
  // A corner of the box, in the colour of its label.
  void draw_profiled_mark(const ViewState& state, QPainter& painter, const Box& box, double ratio, double top);
  void draw_label(QPainter& painter, std::string_view text, const QColor& color, double left, double room, double top, double height);
  // The background of a GPU's work: shaded with the causes of its idle time.
  [[nodiscard]] static std::vector<Rgb> shade_idle_time(const ViewState& state, std::span<const IdleTime::Column> columns, std::vector<Rgb> background);
  // The gaps of a row of a GPU, as it is painted.
  struct IdleRow {
    GpuId gpu = kNone;
    std::vector<IdleTime::Column> columns;
  };
  void draw_causes(const ViewState& state, QPainter& painter, const IdleRow& idle, const Viewport& viewport, double ratio, double top, double height);
  [[nodiscard]] static std::uint32_t nvtx_color(const Trace& trace, TrackKind kind, DetailId detail);

  [[nodiscard]] std::string_view label_of(const Trace& trace, const Box& box);

  LabelCache labels_;
  std::unordered_map<NameId, std::string> kernel_names_;  // those that labels_ refers to; likewise:
  std::unordered_map<NameId, std::string> state_names_;
  std::map<analysis::IdleCause, std::string> cause_names_;
  std::string waiting_name_;
  ProfiledLaunches profiled_;
  const KernelRecords* profiled_of_ = nullptr;  // what they were made of
  ColorCache colors_;
  ColorCache answer_colors_;
  std::weak_ptr<const AnswerRow> answer_;  // whose colours and pixels these are
  LevelRasterizer answer_pixels_;
  std::map<std::pair<NameId, DetailId>, Rgb> call_colors_;
  Subject subject_;
  const LevelPixels* pixels_ = nullptr;  // of the level that is painted
  std::vector<Rgb> color_;               // of each column
  std::vector<Rgb> faded_;               // between the lines of the hatching, where something waits; else empty
  std::vector<int> bar_;                 // its height in device pixels
  std::vector<std::uint8_t> matching_;   // columns that a search found something in; empty while there is no search
  Rgb mark_ = 0;
};

}  // namespace lanescope::timeline
