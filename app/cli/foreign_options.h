// Options that users bring along from nsys, or from instructions that were never right, and that we do not have.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace lanescope::cli {

// What to tell somebody who typed this option ("--gpu-metrics-devices", "-s"), as one sentence or two; none for a name that is unknown.
[[nodiscard]] std::optional<std::string> foreign_option_advice(std::string_view name);

// The same for a word in --trace. None for one that we have, and for one that nobody has.
[[nodiscard]] std::optional<std::string> foreign_trace_advice(std::string_view word);

}  // namespace lanescope::cli
