// Messages on a stream of bytes. Each has a header of 16 bytes with its size and its checksum.
//
// The first bytes on a link may not be a message: banners, or what a shell's start files print. They are skipped up to a limit. After the first message only
// messages may come. Memory is bounded by the largest message. One thread.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace lanescope::remote {

inline constexpr std::size_t kMostFromThere = 1u << 20;  // bytes of a message
inline constexpr std::size_t kMostToThere = 8u << 20;    // arguments, and the hashes of a file of terabytes
inline constexpr std::size_t kMostNoise = 64u << 10;     // bytes before the first message

void append_message(std::string& to, std::string_view payload);

class MessageReader {
 public:
  explicit MessageReader(std::size_t largest) : largest_(largest) {}

  void feed(std::string_view bytes);
  // The next whole message, or nothing if there is none yet. Nothing for ever once the stream is broken.
  std::optional<std::string> next();

  // What came before the first message. It is complete once that message has started, or the stream has ended or is broken.
  [[nodiscard]] std::string noise() const { return has_begun_ ? noise_ : noise_ + buffer_.substr(read_); }
  [[nodiscard]] bool has_begun() const noexcept { return has_begun_; }
  // Why the bytes are not a stream of messages, as a clause. Empty if there is no problem.
  [[nodiscard]] const std::string& problem() const noexcept { return problem_; }
  // True if the reason is a terminal on the way, which echoes what it is sent and changes the ends of lines.
  [[nodiscard]] bool is_from_terminal() const noexcept { return is_from_terminal_; }

 private:
  bool find_begin();
  void give_up(std::string problem);

  std::size_t largest_;
  std::string buffer_;
  std::size_t read_ = 0;  // bytes of the buffer that were taken
  std::string noise_;
  bool has_begun_ = false;
  bool is_from_terminal_ = false;
  std::string problem_;
};

}  // namespace lanescope::remote
