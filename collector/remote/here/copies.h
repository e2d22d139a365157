// The copies of the files that are followed, by the names that the files have there. What the other side says about them is checked: anything except a
// continuation is refused. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "collector/remote/remote_work.h"
#include "here/local_copy.h"
#include "lanescope/remote.pb.h"

namespace lanescope::remote {

// What happens if a file exists already at the place of a copy, and may not be replaced.
enum class Beginnings {
  kRefused,
  kContinued,  // if it is the start of the file there, for example a copy that was broken off
};

class Copies {
 public:
  using Place = std::function<Result<std::filesystem::path>(std::size_t number)>;
  enum class Of { kFile, kRecording };  // a recording may have several files
  Copies(Of of, Place place, Overwrite overwrite, Beginnings beginnings) : of_(of), place_(std::move(place)), overwrite_(overwrite), beginnings_(beginnings) {}

  // Forgets the numbers of files, which are valid only for one link, and for one request on it.
  void forget_numbers() { by_number_.clear(); }
  void describe(proto::RemoteRequest::Follow& request) const;

  Result<void> take(const proto::RemoteReply::File& file);
  // True if a file here is to be continued and the other side does not know about it: it must be asked again, on another link. Until then nothing may be
  // taken. Returns true once.
  [[nodiscard]] bool must_ask_again() { return std::exchange(has_found_beginning_, false); }
  Result<void> take(const proto::RemoteReply::Bytes& bytes);
  // True if the file of this number is the one that came first.
  [[nodiscard]] bool is_first(std::uint32_t number) const;
  // True if the copies are equal to the files there. Copies of files that their recorder has thrown away are thrown away, too. Copies of files that are
  // missing there for other reasons are the only ones left: they are kept as they are, and lost() lists them.
  [[nodiscard]] bool are_equal(const proto::RemoteReply::End& end);
  struct Lost {
    std::filesystem::path copy;  // what had arrived of it
    std::string name;            // its name there
    bool was_removed = false;    // the other side said so; otherwise it said nothing about it
  };
  [[nodiscard]] const std::vector<Lost>& lost() const noexcept { return lost_; }
  // Moves the copies to their places. A copy that replaces a file may not have its place before. Files that were replaced are removed, except those of lost().
  Result<void> finish();
  // Files that were replaced and still lie beside their places.
  [[nodiscard]] std::vector<std::filesystem::path> earlier() const;

  // The copies that are in their places, except files that may not be copies.
  [[nodiscard]] std::vector<CopiedFile> files() const;

 private:
  struct Copy {
    std::string name;  // its name there
    LocalCopy file;
    bool is_kept = false;     // it was here completely before, and it is not confirmed yet that it is a start of the file there
    bool is_cut_off = false;  // the rest of it was lost there
    bool is_whole = false;    // a complete recording was here before: the file there is the same, or another one
  };
  bool keep_what_came(Copy& copy, const proto::RemoteReply::End& end);
  Result<LocalCopy> make(const proto::RemoteReply::File& file, const std::filesystem::path& path);

  Of of_;
  Place place_;
  Overwrite overwrite_;
  Beginnings beginnings_;
  bool has_found_beginning_ = false;
  std::list<Copy> copies_;  // in the order in which they came
  std::map<std::uint32_t, Copy*> by_number_;
  std::size_t made_ = 0;
  std::vector<Lost> lost_;
};

}  // namespace lanescope::remote
