// Texts of the source lines that code of GPUs is of: from the trace, where it has them, from where the program was built, or from below folders that the user names.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/trace/trace.h"

namespace lanescope::kernels {

// One thread at a time. Files are read when one of their lines is asked for, each once, up to 16 MiB; what is no regular file is never opened.
class SourceFiles {
 public:
  // Of the instructions that were sampled or counted. The trace outlives *this. O(samples and counts).
  SourceFiles(const Trace& trace, std::vector<std::filesystem::path> folders);

  // Of a line as sums name it ("file.cu:12 < other.cu:3"), the text of the innermost, without the white space around it. Empty where there is none.
  [[nodiscard]] std::string_view line(std::string_view place);
  // Recorded paths of files that were asked for and not found.
  [[nodiscard]] std::vector<std::string> missing() const;
  // Those of all files that the instructions are of, each once.
  [[nodiscard]] std::vector<std::string> recorded_paths() const;

 private:
  using Lines = std::vector<std::string>;
  const Lines* lines_of(const std::string& name);
  [[nodiscard]] std::optional<Lines> find(const std::string& recorded) const;

  const Trace& trace_;
  std::vector<std::filesystem::path> folders_;
  std::map<std::string, std::vector<std::string>, std::less<>> paths_;  // as recorded, by their last part
  std::map<std::string, std::optional<Lines>, std::less<>> texts_;      // by that; empty: not found
};

}  // namespace lanescope::kernels
