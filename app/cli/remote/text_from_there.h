// What programs on another machine print, on this terminal.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "collector/remote/remote_work.h"

namespace lanescope::cli {

// Text that goes to a terminal is escaped (PrintableStream) and comes in whole lines, as far as they are not very long; files and pipes get the
// bytes as they are. What these don't take is counted, and the rest is tried nonetheless. Waits for a pipe whose reader is slow.
class TextFromThere {
 public:
  ~TextFromThere();
  void print(remote::TextStream stream, std::string_view bytes);
  // A sentence for each stream of which something could not be written.
  [[nodiscard]] std::vector<std::string> losses() const;
  // Whether something could not be written that somebody still waits for: all but what goes to a pipe whose reader has left.
  [[nodiscard]] bool lacks_text() const;

 private:
  struct Loss {
    std::uint64_t bytes = 0;
    int error = 0;  // of the last attempt
  };
  void flush(remote::TextStream stream);
  void write(remote::TextStream stream, std::string_view bytes);
  std::array<std::string, 2> begun_;  // lines that have not ended yet
  std::array<Loss, 2> losses_;
};

}  // namespace lanescope::cli
