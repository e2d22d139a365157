// What programs on another machine print, on this terminal.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "collector/remote/remote_work.h"

namespace lanescope::cli {

// Text that goes to a terminal is escaped (PrintableStream) and comes in whole lines, as far as they are not very long; files and pipes get the
// bytes as they are. What these don't take is counted, and the rest is tried nonetheless. What a pipe has no room for waits here; where that is much, print()
// waits for who reads it.
class TextFromThere {
 public:
  // `goes_on`: false once nobody waits for what is left.
  explicit TextFromThere(std::function<bool()> goes_on) : goes_on_(std::move(goes_on)) {}
  ~TextFromThere();
  void print(remote::TextStream stream, std::string_view bytes);
  // Passes on what there is room for by now, and says what still waits.
  remote::Reading reading(remote::TextStream stream);
  // Waits until all is taken, as long as that goes on.
  void finish();
  // A sentence for each stream of which something could not be written, but to a pipe whose reader has left.
  [[nodiscard]] std::vector<std::string> losses() const;
  // Whether something could not be written that somebody still waits for: all but what goes to a pipe whose reader has left.
  [[nodiscard]] bool lacks_text() const;

 private:
  struct Loss {
    std::uint64_t bytes = 0;
    int error = 0;  // of the last attempt
  };
  struct Waiting {
    std::string text;
    std::size_t written = 0;  // of it
    [[nodiscard]] std::size_t size() const noexcept { return text.size() - written; }
    // What is written is given up once it is more than what waits: a reader that is always behind never lets all of it be written.
    void append(std::string_view bytes) {
      if (written > size()) {
        text.erase(0, written);
        written = 0;
      }
      text.append(bytes);
    }
  };
  void flush(remote::TextStream stream);
  // Until no more than that waits, as long as it goes on.
  void wait_for_reader(remote::TextStream stream, std::size_t most);
  // Until nothing waits, or there is no room.
  void write(remote::TextStream stream);
  static bool has_room(remote::TextStream stream, int limit);
  std::function<bool()> goes_on_;
  std::array<std::string, 2> begun_;  // lines that have not ended yet
  std::array<Waiting, 2> waiting_;
  std::array<Loss, 2> losses_;
  std::array<bool, 2> has_left_{};
};

}  // namespace lanescope::cli
