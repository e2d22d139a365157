// Paints rows into an image of device pixels: columns directly into its scan lines, labels on top. Does not handle input or selection.
#pragma once

#include <map>
#include <memory>
#include <span>
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

  // Fills the image (RGB32, its device pixel ratio set) with the rows of the state from its scroll position on.
  void paint(ViewState& state, QImage& image);
  // To be called when the trace or the theme has changed.
  void forget();
  void setFont(const QFont& font) { labels_.setFont(font); }
  // Paints one level, which the rasterizer has, into [top, top + height) device pixels in the same way as rows: for the minimap. `background`: the background,
  // a scan line.
  void paintLevel(ViewState& state, LevelRasterizer& rasterizer, const LevelContent& content, const Viewport& viewport, QImage& image, int top, int height,
                  const std::vector<Rgb>& background);

 private:
  // The trace whose levels are painted. Ranges of an answer are not events: they are not searched, and have no further facts.
  struct Subject {
    const Trace* trace = nullptr;
    ColorCache* colors = nullptr;
    enum class Kind { kEvents, kCalls, kAnswer } kind = Kind::kEvents;
  };
  // The gaps of a row of a GPU that is being painted.
  struct IdleRow {
    GpuId gpu = kNone;
    std::vector<IdleTime::Column> columns;
  };
  struct Picture;
  // `levels`: the row's levels in sight, and their contents.
  void paintRow(Picture& picture, const PlacedRow& placed, std::span<const Level> levels, const Painted& painted,
                std::span<const LevelContent* const> contents);
  void paintEvents(Picture& picture, const PlacedRow& row, std::size_t level, const Painted& painted, const LevelContent& content,
                   const std::vector<Rgb>& background);
  void paintAnswer(Picture& picture, const PlacedRow& row, const AnswerRow& answer, const std::vector<Rgb>& background);
  void drawOver(Picture& picture);
  // As paintLevel(), of the subject. `sharers`: if more than 1, columns show the mean of that many, not their union. `waiting`: the share of each column that
  // waits for another rank, which is hatched; empty: none.
  void paintSubject(ViewState& state, LevelRasterizer& rasterizer, const LevelContent& content, const Viewport& viewport, QImage& image, int top, int height,
                    const std::vector<Rgb>& background, std::size_t sharers, const std::vector<float>& waiting);
  [[nodiscard]] Subject subjectOf(const ViewState& state, const Row& row);
  [[nodiscard]] Rgb colorOf(TrackKind kind, NameId name, DetailId detail, ColorScheme scheme);
  void colorColumns(const ViewState& state, const Viewport& viewport, int height, std::size_t sharers);
  void colorBoxes(const ViewState& state, int height);
  // Open events are drawn up to now, where they fade.
  void extendOpen(const ViewState& state, const Viewport& viewport, int height);
  void dimOthers(const ViewState& state, std::vector<std::uint8_t> matching);
  void fadeWaiting(const ViewState& state, const std::vector<float>& waiting);
  void writeColumns(QImage& image, int top, int height, const std::vector<Rgb>& background) const;
  // Labels of open events that have no box, because nothing has come since they started.
  void drawOpenLabels(ViewState& state, QPainter& painter, double ratio, double top, double height, const Viewport& viewport);
  void drawLabels(ViewState& state, QPainter& painter, double ratio, double top, double height, const Viewport& viewport);
  // A corner of the box, in the colour of its label.
  void drawProfiledMark(const ViewState& state, QPainter& painter, const Box& box, double ratio, double top);
  void drawLabel(QPainter& painter, std::string_view text, const QColor& color, double left, double room, double top, double height);
  // The background of a GPU's work, shaded by the causes of its idle time.
  [[nodiscard]] static std::vector<Rgb> shadeIdleTime(const ViewState& state, std::span<const IdleTime::Column> columns, std::vector<Rgb> background);
  void drawCauses(const ViewState& state, QPainter& painter, const IdleRow& idle, const Viewport& viewport, double ratio, double top, double height);
  [[nodiscard]] static std::uint32_t nvtxColor(const Trace& trace, TrackKind kind, DetailId detail);

  [[nodiscard]] std::string_view labelOf(const Trace& trace, const Box& box);

  LabelCache labels_;
  std::unordered_map<NameId, std::string> kernel_names_;  // the strings that labels_ refers to, like the next member
  std::unordered_map<NameId, std::string> given_names_;
  std::map<analysis::IdleCause, std::string> cause_names_;
  std::string waiting_name_;
  ProfiledLaunches profiled_;
  const KernelRecords* profiled_of_ = nullptr;  // the records from which they were made
  ColorCache colors_;
  ColorCache answer_colors_;
  std::weak_ptr<const AnswerRow> answer_;  // the answer that these colours and pixels belong to
  LevelRasterizer answer_pixels_;
  std::map<std::pair<NameId, DetailId>, Rgb> call_colors_;
  Subject subject_;
  const LevelPixels* pixels_ = nullptr;  // of the level that is painted
  std::vector<EventRef> open_;           // open events of that level
  std::vector<Rgb> color_;               // of each column
  std::vector<Rgb> faded_;               // between the lines of the hatching, if something waits; else empty
  std::vector<int> bar_;                 // its height in device pixels
  std::vector<std::uint8_t> matching_;   // columns with matches of a search; empty while there is no search
  Rgb mark_ = 0;
};

}  // namespace lanescope::timeline
