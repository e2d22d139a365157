// Texts of the source lines of GPU code: from the trace if it has them, from the build's location, or from folders that the user names.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/trace/kernel_records.h"
#include "model/trace/trace.h"

namespace lanescope::kernels {

class CodeLines;

// One thread at a time. A file is read when one of its lines is first requested, once, up to 16 MiB. Only regular files are opened.
class SourceFiles {
 public:
  // Covers the instructions that were sampled or counted. The trace must outlive *this. O(samples and counts).
  SourceFiles(const Trace& trace, std::vector<std::filesystem::path> folders);

  // The text of the innermost line of a place as sums name it ("file.cu:12 < other.cu:3"), without surrounding white space. Empty if not found, or if two
  // files of that name have a place like this and unlike text there.
  [[nodiscard]] std::string_view line(std::string_view place);
  // The requested files whose text is longer or shorter than the compiled file: the lines may differ.
  [[nodiscard]] std::vector<std::string> changed() const;
  // Recorded paths of files that were requested and not found.
  [[nodiscard]] std::vector<std::string> missing() const;
  // Recorded paths of all files that the instructions belong to, without duplicates.
  [[nodiscard]] std::vector<std::string> recorded_paths() const;

 private:
  struct Path {
    std::string recorded;
    std::uint64_t bytes = 0;  // when it was compiled; 0: unknown
  };
  struct Text {
    std::vector<std::string> lines;
    std::uint64_t bytes = 0;
    Path of;
  };
  struct Named {
    std::vector<Path> paths;
    std::vector<std::optional<std::optional<Text>>> texts;                   // of each path, if it was looked for; of those: empty if not found
    std::map<std::string, std::vector<std::size_t>, std::less<>> of_places;  // numbers of the paths, by the text of a place; only if there are several
  };
  void note_places(CodeLines& code, GpuFunctionId function, std::uint32_t pc);
  [[nodiscard]] std::optional<Text> find(const Path& path) const;

  const Trace& trace_;
  std::vector<std::filesystem::path> folders_;
  std::map<std::string, Named, std::less<>> files_;  // by the last component of their paths
};

}  // namespace lanescope::kernels
