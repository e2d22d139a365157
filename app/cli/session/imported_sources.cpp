#include "session/imported_sources.h"

#include <algorithm>
#include <iostream>

#include "model/import/open_trace.h"
#include "model/kernels/code/source_files.h"
#include "model/trace/kernel_records.h"
#include "text.h"

namespace lanescope::cli {

Result<void> import_sources(const std::filesystem::path& recording, session::SourceRights rights, const std::optional<FileIdentity>& meant) {
  const auto trace = open_trace(recording);
  if (!trace) return trace.error();
  std::vector<std::string> paths = kernels::SourceFiles(**trace, {}).recorded_paths();
  std::erase_if(paths, [&trace](const std::string& path) { return (*trace)->kernel_records().find_source(path) != nullptr; });
  const auto say = [](const std::string& sentence) { std::cerr << "lanescope: " << sentence << '\n'; };
  if (paths.empty()) {
    say("There are no sources to import: no code of a GPU with line numbers (nvcc -lineinfo) was sampled (--kernels=pc) or counted (kernels --set source).");
    return {};
  }
  const Result<session::StoredSources> stored = session::append_sources(recording, paths, rights, meant);
  if (!stored) return stored.error();
  say("Sources in the recording: " + counted(stored->files, "file") + ", " + bytes_text(stored->bytes) + ".");
  constexpr std::size_t kMostTold = 8;
  for (std::size_t i = 0; i < std::min(kMostTold, stored->left_out.size()); ++i)
    say("Not in the recording: " + stored->left_out[i].first + " (" + stored->left_out[i].second + ").");
  if (stored->left_out.size() > kMostTold) say("Nor are " + std::to_string(stored->left_out.size() - kMostTold) + " more files.");
  if (stored->is_owners_now) say("The recording can be read by you alone from here on, as some of the sources can.");
  return {};
}

}  // namespace lanescope::cli
