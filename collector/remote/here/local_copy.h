// The copy of a file on another machine: it grows as that file does, and holds the same bytes.
//
// It is made beside its place. It takes its place with its first bytes if no file is there; if it replaces a file, it does so once it holds enough bytes,
// and the replaced file lies beside it until the copy is finished (model/file/new_file.h says where, and how links and the like are handled). While it grows it
// is locked, as a recording's own file is. One thread.
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
  // Continues an earlier copy that did not reach its end, all of which is kept. Fails with one sentence. O(bytes).
  static Result<LocalCopy> go_on(const std::filesystem::path& path);

  [[nodiscard]] const std::filesystem::path& path() const noexcept { return file_.path(); }
  [[nodiscard]] bool is_in_place() const noexcept { return file_.has_taken_place(); }
  [[nodiscard]] const BlockSums& sums() const noexcept { return sums_; }

  // Cuts the copy to `size`, which is at most its own. Fails with one sentence.
  Result<void> cut(std::uint64_t size);
  // Appends. Fails with one sentence if the disk is full; what was written before stays.
  Result<void> append(std::string_view bytes);
  // Moves the copy to its place, whatever it holds, and writes its bytes to the disk. Fails with one sentence if that fails, and if somebody has removed or
  // replaced it meanwhile, because then it is not a reliable copy.
  Result<void> finish();
  // Throws the copy away. A file that it has replaced is put back, unless others have put a file there.
  void discard();
  // The file that it has replaced, while that lies beside its place: until finish(), and if that fails or is not called; else empty.
  [[nodiscard]] std::filesystem::path earlier() const { return file_.set_aside(); }

 private:
  LocalCopy(NewFile file, std::uint64_t worth) : file_(std::move(file)), worth_(worth) {}
  [[nodiscard]] bool is_where_it_was() const;  // its path leads to this file

  NewFile file_;
  std::uint64_t worth_;  // number of bytes with which it takes its place
  BlockSums sums_;
};

}  // namespace lanescope::remote
