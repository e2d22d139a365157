// A process of lanescope-code-names, as seen by the recorder (messages.h).
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "code_names/messages.h"
#include "collector/channel/file_descriptor.h"

namespace lanescope::code_names {

// Beside our own program, or what LANESCOPE_CODE_NAMES says.
[[nodiscard]] std::string program_path();

// True if the file belongs to root and only root can write it: root reads such a file with its own rights, unless it is another root's (in a container).
[[nodiscard]] bool is_roots_own(const struct stat& facts) noexcept;

// One thread.
class Reader {
 public:
  // `as`: kAsNobody or kAsItIs. Null if it can't be started.
  static std::unique_ptr<Reader> start(std::string_view as, const std::string& debug_folders);
  // Ends the process.
  ~Reader();
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  enum class Reply { kCame, kFailed, kAwaited };  // kFailed: the process ended, or took more than 20 s or 1 GiB
  struct Answer {
    Reply reply = Reply::kFailed;
    std::vector<std::byte> bytes;
  };
  // Sends a request with a path, if it is not empty, and a descriptor, if it is not negative, and waits as await(). Requires: no answer is awaited.
  Answer ask(const Request& request, std::string_view path, int descriptor, const std::function<bool()>& goes_on);
  // Waits for the answer to the last request, as long as `goes_on` returns true.
  Answer await(const std::function<bool()>& goes_on);
  // Bytes of memory of its own, without files that it has mapped.
  [[nodiscard]] std::uint64_t own_memory() const;

 private:
  Reader(pid_t pid, channel::FileDescriptor socket) : pid_(pid), socket_(std::move(socket)) {}
  [[nodiscard]] bool send(const Request& request, std::string_view path, int descriptor) const;

  pid_t pid_;
  channel::FileDescriptor socket_;
  std::chrono::steady_clock::time_point asked_at_;
};

}  // namespace lanescope::code_names
