// The copy of a file that is somewhere else: it grows as that does, and holds the same bytes.
//
// It is made beside its place and takes it with its first bytes where nothing is there; where it replaces a file, once it is worth one
// (model/file/new_file.h says how links and the like are met). While it grows it is locked, as a recording's own file is. One thread.
#pragma once

#include <filesystem>
#include <string_view>

#include "link/block_sums.h"
#include "model/file/new_file.h"

namespace lanescope::remote {

class LocalCopy {
 public:
  // Fails with one sentence.
  static Result<LocalCopy> create(const std::filesystem::path& path, Overwrite overwrite, Readers readers);
  // Of an earlier copy that came to no end, and of which all is kept. Fails with one sentence. O(bytes).
  static Result<LocalCopy> go_on(const std::filesystem::path& path);

  [[nodiscard]] const std::filesystem::path& path() const noexcept { return file_.path(); }
  [[nodiscard]] bool is_in_place() const noexcept { return file_.has_taken_place(); }
  [[nodiscard]] const BlockSums& sums() const noexcept { return sums_; }

  // It goes on at `size`, which is at most its own. Fails with one sentence.
  Result<void> cut(std::uint64_t size);
  // Appends. Fails with one sentence where the disk is full; what it had stays.
  Result<void> append(std::string_view bytes);
  // Whatever it holds, it takes its place, and its bytes are brought to the disk. Fails with one sentence where they are not, and where
  // somebody has removed or replaced it meanwhile: then it is no copy to rely on.
  Result<void> finish();
  // What it was to replace, or has replaced, is not brought back.
  void discard();

 private:
  LocalCopy(NewFile file, std::uint64_t worth) : file_(std::move(file)), worth_(worth) {}
  [[nodiscard]] bool is_where_it_was() const;  // its path leads to it

  NewFile file_;
  std::uint64_t worth_;  // bytes with which it takes its place
  BlockSums sums_;
};

}  // namespace lanescope::remote
