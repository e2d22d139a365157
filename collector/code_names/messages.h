// Messages between the recorder and lanescope-code-names: one request and one answer at a time, over a SOCK_SEQPACKET socket that is the program's
// standard input. Neither side trusts the other's lengths. The program ends by itself if an answer takes more than 21 s.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "code_name.h"

namespace lanescope::code_names {

inline constexpr std::string_view kProgramName = "lanescope-code-names";
inline constexpr std::string_view kAsNobody = "nobody";  // second argument of the program, or kAsItIs; the first argument is the folders of debug files
inline constexpr std::string_view kAsItIs = "self";

// Sent by the recorder. kOpen is accompanied by a descriptor (SCM_RIGHTS), and followed by the file's path; each number is opened once. kInterpreter is
// accompanied by a descriptor, too.
enum class RequestKind : std::uint32_t { kOpen, kFind, kInterpreter };
struct Request {
  RequestKind kind = RequestKind::kFind;
  std::uint32_t file = 0;     // number that the recorder gave the file
  std::uint64_t address = 0;  // kFind: in the address space of the file's symbols
};
inline constexpr std::size_t kMaximumPath = 4096;

// The answer to kOpen is empty. The answer to kInterpreter is what the file says about CPython in it (python/interpreter_message.h). The answer to kFind has
// the number of names, then for each its line, the lengths of both texts, and the texts.
inline constexpr std::size_t kMaximumNames = 24;
inline constexpr std::size_t kMaximumText = 2048;  // bytes of each text; the rest is cut off
inline constexpr std::size_t kMaximumAnswer = 4 + kMaximumNames * (3 * 4 + 2 * kMaximumText);

inline std::vector<std::byte> packed(std::span<const CodeName> names) {
  std::vector<std::byte> bytes;
  const auto put = [&bytes](const void* data, std::size_t size) {
    const auto* from = static_cast<const std::byte*>(data);
    bytes.insert(bytes.end(), from, from + size);
  };
  const auto put_number = [&put](std::size_t number) {
    const auto word = static_cast<std::uint32_t>(number);
    put(&word, sizeof(word));
  };
  names = names.first(std::min(names.size(), kMaximumNames));
  put_number(names.size());
  for (const CodeName& name : names) {
    const std::string_view function = std::string_view(name.function).substr(0, kMaximumText);
    const std::string_view file = std::string_view(name.source_file).substr(0, kMaximumText);
    put_number(name.source_line);
    put_number(function.size());
    put_number(file.size());
    put(function.data(), function.size());
    put(file.data(), file.size());
  }
  return bytes;
}

// Nothing if the message is invalid.
inline std::optional<std::vector<CodeName>> unpacked(std::span<const std::byte> bytes) {
  const auto take_number = [&bytes]() -> std::optional<std::uint32_t> {
    std::uint32_t number = 0;
    if (bytes.size() < sizeof(number)) return std::nullopt;
    std::memcpy(&number, bytes.data(), sizeof(number));
    bytes = bytes.subspan(sizeof(number));
    return number;
  };
  const auto take_text = [&bytes](std::size_t size) {
    std::string text(reinterpret_cast<const char*>(bytes.data()), size);
    bytes = bytes.subspan(size);
    return text;
  };
  std::vector<CodeName> names;
  const std::optional<std::uint32_t> count = take_number();
  if (!count || *count > kMaximumNames) return std::nullopt;
  for (std::uint32_t i = 0; i < *count; ++i) {
    const std::optional<std::uint32_t> line = take_number();
    const std::optional<std::uint32_t> function = take_number();
    const std::optional<std::uint32_t> file = take_number();
    if (!file || *function > bytes.size() || *file > bytes.size() - *function) return std::nullopt;
    CodeName& name = names.emplace_back();
    name.function = take_text(*function);
    name.source_file = take_text(*file);
    name.source_line = *line;
  }
  if (!bytes.empty()) return std::nullopt;
  return names;
}

}  // namespace lanescope::code_names
