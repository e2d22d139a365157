#include "model/trace/text/percent.h"

#include <cstdio>

namespace lanescope {

std::string format_percent(double percent, int decimals) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*f %%", decimals, percent);
  return text;
}

// The bounds are the values at which rounding adds a digit in front.
std::string format_small_percent(double percent) { return format_percent(percent, percent >= 9.95 ? 0 : percent >= 0.995 ? 1 : 2); }

std::string format_change(double percent) { return (percent > 0 ? "+" : "") + format_percent(percent); }

}  // namespace lanescope
