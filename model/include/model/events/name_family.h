// Names that belong together: those that differ in their counters only.
#pragma once

#include <string>
#include <string_view>

namespace lanescope {

// The name with its counters taken out, so that the iterations of a loop share one: "step_12" -> "step_*", "forward 3" -> "forward *". A
// number counts where neither a letter stands next to it nor it follows one, unless the word says that it counts: step, iter, iteration,
// batch, epoch, frame. So "conv2d" and "layer1" stay as they are.
[[nodiscard]] std::string name_family(std::string_view name);

// Whether somebody who looks for this text means the name: it is a part of it or, where a '*' stands in it, of its family. Letter case is
// ignored.
[[nodiscard]] bool name_matches(std::string_view name, std::string_view text);

}  // namespace lanescope
