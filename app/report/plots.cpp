#include "plots.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <numeric>
#include <vector>

#include "model/analysis/loop/loop.h"
#include "timeline/core/lanes/idle_time.h"
#include "timeline/core/pixels/level_content.h"
#include "timeline/core/pixels/svg_picture.h"
#include "timeline/core/words/format.h"

namespace lanescope::report {
namespace {

constexpr int kWidth = 960, kLeft = 200, kRight = kWidth;  // px; as names and times in pictures of the timeline
constexpr int kHeight = 56, kGap = 12, kAxis = 20;         // px, for each GPU
constexpr std::size_t kPieces = 200;
constexpr std::size_t kMostGpus = 8;
constexpr std::size_t kBins = 40;
constexpr int kBarHeight = 160;

std::string begin_of(int height, std::string_view name) {
  return "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"" + std::string(name) + "\" viewBox=\"0 0 " + std::to_string(kWidth) + " " +
         std::to_string(height) + "\" width=\"100%\" font-family=\"system-ui, sans-serif\" font-size=\"12\">\n";
}

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.2f", value);
  return text;
}

std::string label(double x, double y, std::string_view anchor, std::string_view text) {
  return "<text x=\"" + number(x) + "\" y=\"" + number(y) + "\" text-anchor=\"" + std::string(anchor) + "\" fill=\"#444\">" + timeline::markup_text(text) +
         "</text>\n";
}

std::string rectangle(double x, double y, double width, double height, std::string_view fill, std::string_view title) {
  return "<rect x=\"" + number(x) + "\" y=\"" + number(y) + "\" width=\"" + number(width) + "\" height=\"" + number(height) + "\" fill=\"" + std::string(fill) +
         "\"><title>" + timeline::markup_text(title) + "</title></rect>\n";
}

// What a GPU did in each piece of the time.
struct Pieces {
  std::vector<Nanoseconds> busy;    // it worked
  std::vector<Nanoseconds> waited;  // it only waited in a collective for a rank that came later
};

Nanoseconds sum_of(const std::vector<Nanoseconds>& times) { return std::accumulate(times.begin(), times.end(), Nanoseconds{0}); }

std::string line_of(int top, const std::string& name, TimeRange time, const std::vector<Nanoseconds>& edges, const Pieces& pieces) {
  const auto share_of = [](Nanoseconds part, Nanoseconds whole) { return static_cast<double>(part) / static_cast<double>(whole); };
  const Nanoseconds waited = sum_of(pieces.waited);
  const double middle = top + kHeight / 2.0 + 4, half_line = waited > 0 ? 8 : 0;
  std::string text = label(kLeft - 8, middle - half_line, "end", name + ": " + timeline::format_share(share_of(sum_of(pieces.busy), time.length())) + " busy");
  if (waited > 0) text += label(kLeft - 8, middle + half_line, "end", timeline::format_share(share_of(waited, time.length())) + " waiting for other ranks");
  text += rectangle(kLeft, top, kRight - kLeft, kHeight, "#eef0f2", name);
  const double scale = (kRight - kLeft) / static_cast<double>(time.length());
  for (std::size_t i = 0; i < pieces.busy.size(); ++i) {
    const Nanoseconds length = edges[i + 1] - edges[i];
    double below = 0;
    const auto add = [&](Nanoseconds part, std::string_view fill, const char* what) {
      if (length == 0 || part == 0) return;
      const double share = share_of(part, length);
      below += share;
      text += rectangle(kLeft + static_cast<double>(edges[i] - time.begin) * scale, top + kHeight * (1 - below), static_cast<double>(length) * scale,
                        kHeight * share, fill,
                        timeline::format_share(share) + what + " from " + timeline::format_time(edges[i]) + " to " + timeline::format_time(edges[i + 1]));
    };
    add(pieces.busy[i], "#3b82c4", " busy");
    add(pieces.waited[i], "#d9a441", " waiting for other ranks");
  }
  return text;
}

}  // namespace

std::string busy_plot(const std::shared_ptr<const Trace>& trace, const timeline::CommunicationTime& communication, TimeRange time) {
  std::map<GpuId, timeline::Level> levels;
  for (const Track& track : trace->tracks())
    if (is_gpu_work(track.key.kind) && track.key.gpu < trace->gpus().size())
      for (const LaneId lane : track.lanes) levels[track.key.gpu].push_back({.lane = lane});
  if (levels.empty() || time.empty()) return {};
  std::vector<Nanoseconds> edges;
  for (std::size_t piece = 0; piece <= kPieces; ++piece)
    edges.push_back(time.begin + static_cast<Nanoseconds>(static_cast<double>(time.length()) * static_cast<double>(piece) / static_cast<double>(kPieces)));
  std::map<GpuId, std::vector<Nanoseconds>> waited;
  for (std::size_t piece = 0; piece < kPieces && communication.has_waits(); ++piece)
    for (const timeline::CommunicationTime::OfGpu& of_gpu : communication.within({edges[piece], edges[piece + 1]}))
      waited.try_emplace(of_gpu.gpu, kPieces).first->second[piece] = of_gpu.waited;
  const timeline::GpuNames names(*trace);
  const std::size_t shown = std::min(levels.size(), kMostGpus);
  std::string text = begin_of(static_cast<int>(shown) * (kHeight + kGap) + kAxis, "busy");
  int top = 0;
  for (const auto& [gpu, level] : levels) {
    if (top == static_cast<int>(shown) * (kHeight + kGap)) break;
    Pieces pieces{std::vector<Nanoseconds>(kPieces), std::vector<Nanoseconds>(kPieces)};
    timeline::LevelContent(trace, level).busy(edges, pieces.busy);
    if (const auto of_gpu = waited.find(gpu); of_gpu != waited.end()) pieces.waited = of_gpu->second;
    for (std::size_t piece = 0; piece < kPieces; ++piece) pieces.busy[piece] -= std::min(pieces.busy[piece], pieces.waited[piece]);
    text += line_of(top, names.of(gpu), time, edges, pieces);
    top += kHeight + kGap;
  }
  text += label(kLeft, top + 10, "start", timeline::format_time(time.begin)) + label(kRight, top + 10, "end", timeline::format_time(time.end)) + "</svg>";
  if (levels.size() > shown) text += "<p class=\"quiet\">and " + std::to_string(levels.size() - shown) + " more GPUs</p>";
  return text;
}

std::string step_plot(const Trace& trace) {
  const std::vector<Nanoseconds> times = analysis::iteration_lengths(trace);
  if (times.size() < 2) return {};
  const auto [shortest, longest] = std::minmax_element(times.begin(), times.end());
  const double width = std::max(1.0, static_cast<double>(*longest - *shortest) / kBins);
  std::vector<std::uint64_t> counts(kBins);
  for (const Nanoseconds each : times) ++counts[std::min(kBins - 1, static_cast<std::size_t>(static_cast<double>(each - *shortest) / width))];
  const auto most = static_cast<double>(*std::max_element(counts.begin(), counts.end()));
  std::string text = begin_of(kBarHeight + kAxis, "steps");
  text += label(kLeft - 8, kBarHeight / 2.0, "end", timeline::format_count(times.size()) + " iterations");
  const double bar = (kRight - kLeft) / static_cast<double>(kBins);
  for (std::size_t i = 0; i < kBins; ++i) {
    if (counts[i] == 0) continue;
    const auto from = static_cast<Nanoseconds>(static_cast<double>(*shortest) + width * static_cast<double>(i));
    const auto to = static_cast<Nanoseconds>(static_cast<double>(*shortest) + width * static_cast<double>(i + 1));
    const double height = kBarHeight * static_cast<double>(counts[i]) / most;
    text += rectangle(kLeft + bar * static_cast<double>(i), kBarHeight - height, bar - 1, height, "#3b82c4",
                      timeline::format_count(counts[i]) + " of " + timeline::format_duration(from) + " to " + timeline::format_duration(to));
  }
  return text + label(kLeft, kBarHeight + 14, "start", timeline::format_duration(*shortest)) +
         label(kRight, kBarHeight + 14, "end", timeline::format_duration(*longest)) + "</svg>";
}

}  // namespace lanescope::report
