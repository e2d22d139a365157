// What programs on another machine print, on this terminal.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "collector/remote/remote_work.h"

namespace lanescope::cli {

// Text that goes to a terminal is escaped (PrintableStream) and comes in whole lines, as far as they are not very long; files and pipes get the
// bytes as they are.
class TextFromThere {
 public:
  ~TextFromThere();
  void print(remote::TextStream stream, std::string_view bytes);

 private:
  void flush(remote::TextStream stream);
  std::array<std::string, 2> begun_;  // lines that have not ended yet
};

}  // namespace lanescope::cli
