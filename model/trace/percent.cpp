#include "model/trace/percent.h"

#include <cstdio>

namespace lanescope {

std::string format_percent(double percent, int decimals) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*f %%", decimals, percent);
  return text;
}

std::string format_change(double percent) { return (percent > 0 ? "+" : "") + format_percent(percent); }

}  // namespace lanescope
