#include "options/range_options.h"

#include <charconv>

#include "checks.h"

namespace lanescope::cli {
namespace {

using session::AfterCapture;
using session::CaptureRange;
using session::CaptureTrigger;

Result<CaptureTrigger> trigger(const std::string& text) {
  if (text == "none") return CaptureTrigger::kNone;
  if (text == "cudaProfilerApi") return CaptureTrigger::kProfilerApi;
  if (text == "nvtx") return CaptureTrigger::kNvtxRange;
  if (text == "cuda" || text == "osrt")
    return usage_error("--capture-range takes none, cudaProfilerApi or nvtx, not " + text + ". Did you mean --trace=" + text + "?");
  return usage_error("--capture-range takes none, cudaProfilerApi or nvtx, not \"" + text + "\".");
}

// "range", "range@domain", "range@*"; a backslash makes an @ part of a name.
void read_name(const std::string& text, CaptureRange& range) {
  std::string* part = &range.name;
  range.domain.emplace();
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 1 < text.size()) {
      *part += text[++i];
    } else if (text[i] == '@' && part == &range.name) {
      part = &*range.domain;
    } else {
      *part += text[i];
    }
  }
  if (part == &*range.domain && *range.domain == "*") range.domain.reset();
}

// "repeat", "repeat:4", "repeat-shutdown:4", followed by a mode of nsys's that says when it makes its files; ours are made at once.
Result<void> read_repeat(const std::string& text, CaptureRange& range) {
  const Error wrong = usage_error("--capture-range-end takes none, stop, stop-shutdown, repeat, repeat:N or repeat-shutdown:N, not \"" + text + "\".");
  std::string rest = text;
  for (const char* mode : {":defer", ":sync", ":async"})
    if (rest.ends_with(mode)) rest.resize(rest.size() - std::string_view(mode).size());
  const std::size_t colon = rest.find(':');
  const std::string kind = rest.substr(0, colon);
  if (kind != "repeat" && kind != "repeat-shutdown") return wrong;
  range.after = AfterCapture::kRepeat;
  range.after_repeats = kind == "repeat" ? AfterCapture::kStop : AfterCapture::kShutdown;
  if (colon == std::string::npos) return kind == "repeat" ? Result<void>() : Result<void>(wrong);
  std::uint32_t count = 0;
  const auto [end, error] = std::from_chars(rest.data() + colon + 1, rest.data() + rest.size(), count);
  if (error != std::errc{} || end != rest.data() + rest.size() || count == 0) return wrong;
  range.repeats = count;
  return {};
}

}  // namespace

void describe_range(CLI::App& app, RangeOptions& options, Targets targets) {
  constexpr const char* kGroup = "Which part";
  const bool is_running = targets == Targets::kRunning;
  app.add_option("-c,--capture-range", options.range,
                 "Record from cudaProfilerStart to cudaProfilerStop\n(cudaProfilerApi), or an NVTX range (nvtx); none: everything")
      ->type_name("WHAT")
      ->check(help_lists({"none", "cudaProfilerApi", "nvtx"}))
      ->default_str("none")
      ->group(kGroup);
  app.add_option("--capture-range-end", options.range_end,
                 is_running ? "What its end does: none; stop, stop-shutdown: end the\nrecording; repeat[:N], repeat-shutdown:N: a file for each\n"
                              "of (N) ranges. The program runs on"
                            : "What its end does: none; stop: record nothing more;\n"
                              "stop-shutdown: end the program, too (--kill); repeat[:N]:\n"
                              "a file for each of (N) ranges; repeat-shutdown:N")
      ->type_name("WHAT")
      ->check(help_lists({"none", "stop", "stop-shutdown", "repeat", "repeat:N", "repeat-shutdown:N"}))
      ->default_str("stop-shutdown")
      ->group(kGroup);
  app.add_option("-p,--nvtx-capture", options.nvtx_capture,
                 "With -c nvtx: the range's text, plain or registered; in\nanother domain: TEXT@DOMAIN; in every domain: TEXT@*")
      ->type_name("RANGE")
      ->group(kGroup);
  app.add_flag_function(
         "--stop-on-range-end", [&options](std::int64_t count) { options.stop_on_range_end = count > 0; }, "")
      ->group("");
}

void describe_start_later(CLI::App& app, RangeOptions& options) {
  app.add_flag("-Y,--start-later", options.start_later, "Record nothing before `lanescope start` [false]")->group("Which part");
}

Result<CaptureRange> capture_range(const RangeOptions& options) {
  CaptureRange range;
  const Result<CaptureTrigger> wanted = trigger(options.range);
  if (!wanted) return wanted.error();
  range.trigger = *wanted;
  if (options.stop_on_range_end) {
    range.after = *options.stop_on_range_end ? AfterCapture::kShutdown : AfterCapture::kGoOn;
  } else if (options.range_end == "none") {
    range.after = AfterCapture::kGoOn;
  } else if (options.range_end == "stop") {
    range.after = AfterCapture::kStop;
  } else if (options.range_end != "stop-shutdown") {
    if (Result<void> read = read_repeat(options.range_end, range); !read) return read.error();
  }
  const bool by_nvtx = range.trigger == CaptureTrigger::kNvtxRange;
  if (by_nvtx && options.nvtx_capture.empty()) return usage_error("--capture-range=nvtx needs the range: --nvtx-capture=TEXT");
  if (!by_nvtx && !options.start_later && !options.nvtx_capture.empty()) return usage_error("--nvtx-capture needs --capture-range=nvtx.");
  if (by_nvtx) read_name(options.nvtx_capture, range);
  if (options.start_later && range.trigger != CaptureTrigger::kNone)
    return usage_error("A capture that lanescope start begins has its range from there: lanescope start --capture-range=" + options.range);
  if (options.start_later) range.trigger = CaptureTrigger::kRequest;
  return range;
}

}  // namespace lanescope::cli
