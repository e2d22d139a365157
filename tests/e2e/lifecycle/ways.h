// The ways in which programs live and end, and what a recording of each must hold (tests/programs/lives).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace lanescope::test {

enum class Rights { kAny, kRoot };
enum class Joining { kLaunched, kAttached };

struct Way {
  std::vector<std::string> arguments;  // of lives; "FOLDER" stands for the folder in which it runs, "LIVES" for its own path
  std::uint64_t ranges = 100;          // named "step", by construction
  std::string said;                    // not empty: if ranges are missing, messages contain this text
  std::string before;                  // shell commands before the program and the recorder
  std::string input;
  Rights rights = Rights::kAny;
  // If the recorder attaches: programs that this one starts are not recorded then. None: the same number.
  std::optional<std::uint64_t> ranges_if_attached = std::nullopt;
  std::optional<Joining> only = std::nullopt;  // the only way of joining that can be tried; none: both
  std::string traced;                          // tried at least if this is traced

  [[nodiscard]] std::string title() const;
};

std::vector<Way> all_ways();

// What is traced (-t), whether that includes the ranges, and how else.
struct TraceKind {
  std::string option;
  bool ranges;
  std::vector<std::string> more{};  // options

  [[nodiscard]] std::string title() const;
};
std::vector<TraceKind> usual_trace_kinds(Joining joining);
std::vector<TraceKind> all_trace_kinds(Joining joining);

}  // namespace lanescope::test
