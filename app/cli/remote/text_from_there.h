// Prints on this terminal what programs on another machine print.
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

// Text for a terminal is escaped (PrintableStream) and written in whole lines, unless they are very long; files and pipes get the bytes unchanged. Bytes that
// can't be written are counted, and the rest is still tried. What a pipe has no room for waits here; if that is much, print() waits for the reader.
class TextFromThere {
 public:
  // `goes_on`: returns false once nobody waits for what is left.
  explicit TextFromThere(std::function<bool()> goes_on) : goes_on_(std::move(goes_on)) {}
  ~TextFromThere();
  void print(remote::TextStream stream, std::string_view bytes);
  // Writes as much as there is room for, and returns what still waits.
  remote::Reading reading(remote::TextStream stream);
  // Waits until everything is taken, while goes_on() is true.
  void finish();
  // A sentence for each stream of which something could not be written, except a pipe whose reader has left.
  [[nodiscard]] std::vector<std::string> losses() const;
  // True if something could not be written that somebody still waits for: anything except the text for a pipe whose reader has left.
  [[nodiscard]] bool lacks_text() const;

 private:
  struct Loss {
    std::uint64_t bytes = 0;
    int error = 0;  // of the last attempt
  };
  struct Waiting {
    std::string text;
    std::size_t written = 0;  // bytes of `text`
    [[nodiscard]] std::size_t size() const noexcept { return text.size() - written; }
    // What is written is dropped once it is more than what waits: if a reader is always behind, there is never a moment at which everything is written.
    void append(std::string_view bytes) {
      if (written > size()) {
        text.erase(0, written);
        written = 0;
      }
      text.append(bytes);
    }
  };
  void flush(remote::TextStream stream);
  // Waits until at most `most` bytes wait, while goes_on() is true.
  void wait_for_reader(remote::TextStream stream, std::size_t most);
  // Writes until nothing waits, or there is no room.
  void write(remote::TextStream stream);
  static bool has_room(remote::TextStream stream, int limit);
  std::function<bool()> goes_on_;
  std::array<std::string, 2> begun_;  // lines that have not ended yet
  std::array<Waiting, 2> waiting_;
  std::array<Loss, 2> losses_;
  std::array<bool, 2> has_left_{};
};

}  // namespace lanescope::cli
