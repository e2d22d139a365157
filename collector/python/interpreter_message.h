// What a file says about CPython in it, as lanescope-code-names answers (code_names/messages.h). The recorder does not trust the answer.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

#include "python/interpreter_file.h"

namespace lanescope::python {

struct InterpreterMessage {
  std::uint64_t is_readable = 0;  // 1: yes
  std::uint64_t start = 0;
  std::uint64_t runtime = 0;
  std::uint64_t version = 0;
  std::uint64_t parts = 0;  // number of `loop`
  std::array<AddressRange, kMostLoopParts> loop{};
};

inline InterpreterMessage packed(const InterpreterFile& file) {
  InterpreterMessage message{file.is_readable ? 1u : 0u, file.start, file.runtime, file.version, std::min(file.loop.size(), kMostLoopParts), {}};
  std::copy_n(file.loop.begin(), message.parts, message.loop.begin());
  return message;
}

// Nothing if the message is invalid.
inline std::optional<InterpreterFile> unpacked_interpreter(std::span<const std::byte> bytes) {
  InterpreterMessage message;
  if (bytes.size() != sizeof(message)) return std::nullopt;
  std::memcpy(&message, bytes.data(), sizeof(message));
  if (message.is_readable > 1 || message.parts > kMostLoopParts) return std::nullopt;
  return InterpreterFile{
      message.is_readable == 1, message.start, message.runtime, message.version, {message.loop.begin(), message.loop.begin() + message.parts}};
}

}  // namespace lanescope::python
