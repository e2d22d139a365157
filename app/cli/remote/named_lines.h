// Lines of several machines on one output: each is printed whole, with the name of its machine before it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace lanescope::cli {

// The output of this process that all of them share. It writes only what there is room for, so that a slow reader holds up nobody but those who have much to
// print. On a terminal, control characters are escaped (PrintableStream). One thread.
class SharedOutput {
 public:
  explicit SharedOutput(int file);

  [[nodiscard]] int file() const noexcept { return file_; }
  void add(std::string_view whole_lines);
  [[nodiscard]] bool is_empty() const noexcept { return waiting_.empty(); }
  // True if who prints should wait.
  [[nodiscard]] bool is_full() const noexcept;
  // Writes a part. To be called if there is room in the file. Nothing is kept once its reader has left.
  void write_on();
  [[nodiscard]] bool has_left() const noexcept { return has_left_; }

 private:
  int file_;
  bool is_terminal_;
  bool has_left_ = false;
  std::string waiting_;
};

// What one machine prints to it.
class NamedLines {
 public:
  // `prefix` is put before each line.
  NamedLines(std::string prefix, SharedOutput& to) : prefix_(std::move(prefix)), to_(&to) {}
  void take(std::string_view bytes);
  // The last line may have no end.
  void finish();

 private:
  std::string prefix_;
  SharedOutput* to_;
  std::string begun_;
};

// "gpu7  | ": names of equal length, followed by a bar.
[[nodiscard]] std::vector<std::string> line_prefixes(const std::vector<std::string>& names);

}  // namespace lanescope::cli
