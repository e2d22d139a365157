// Texts of the source lines that code of GPUs is of: from the trace, where it has them, from where the program was built, or from below folders that the user
// names.
#pragma once

#include <cstdint>
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
  // Of these, those of which a text was found that is longer or shorter than what was compiled: its lines may be others.
  [[nodiscard]] std::vector<std::string> changed() const;
  // Recorded paths of files that were asked for and not found.
  [[nodiscard]] std::vector<std::string> missing() const;
  // Those of all files that the instructions are of, each once.
  [[nodiscard]] std::vector<std::string> recorded_paths() const;

 private:
  struct Path {
    std::string recorded;
    std::uint64_t bytes = 0;  // when it was compiled; 0: not known
  };
  struct Text {
    std::vector<std::string> lines;
    std::uint64_t bytes = 0;
    Path of;
  };
  const Text* text_of(const std::string& name);
  [[nodiscard]] std::optional<Text> find(const Path& path) const;

  const Trace& trace_;
  std::vector<std::filesystem::path> folders_;
  std::map<std::string, std::vector<Path>, std::less<>> paths_;    // by their last part
  std::map<std::string, std::optional<Text>, std::less<>> texts_;  // by that; empty: not found
};

}  // namespace lanescope::kernels
