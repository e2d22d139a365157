// Names that belong together because they differ only in their counters.
#pragma once

#include <string>
#include <string_view>

namespace lanescope {

// The name with its counters replaced, so that the iterations of a loop share one name: "step_12" -> "step_*", "forward 3" -> "forward *". A number is a
// counter if no letter stands directly after it, and none directly before it except the end of a counting word: step, iter, iteration, batch, epoch, frame.
// So "conv2d" and "layer1" stay as they are.
[[nodiscard]] std::string name_family(std::string_view name);

// True if a search for this text finds the name: the text is a part of the name or, if it contains a '*', of the name's family. Letter case is ignored.
[[nodiscard]] bool name_matches(std::string_view name, std::string_view text);

}  // namespace lanescope
