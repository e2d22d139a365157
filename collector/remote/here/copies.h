// The copies of what is followed, by the names that the files have there. What is said of them is checked: anything else than a continuation is
// refused. One thread.
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

// What becomes of a file that has the name of a copy already, and may not be replaced.
enum class Beginnings {
  kRefused,
  kContinued,  // where it is a beginning of the file there, as a copy that was broken off is
};

class Copies {
 public:
  using Place = std::function<Result<std::filesystem::path>(std::size_t number)>;
  enum class Of { kFile, kRecording };  // which may have several files
  Copies(Of of, Place place, Overwrite overwrite, Beginnings beginnings) : of_(of), place_(std::move(place)), overwrite_(overwrite), beginnings_(beginnings) {}

  // Numbers of files hold for one link, and for what is asked for on it once.
  void forget_numbers() { by_number_.clear(); }
  void describe(proto::RemoteRequest::Follow& request) const;

  Result<void> take(const proto::RemoteReply::File& file);
  // A file here is to be gone on with, and the other side does not know of it: it has to be asked again, on another link. Until then
  // nothing may be taken. Says so once.
  [[nodiscard]] bool must_ask_again() { return std::exchange(has_found_beginning_, false); }
  Result<void> take(const proto::RemoteReply::Bytes& bytes);
  // Whether the copies hold what is there. Those of files that their recorder has thrown away are thrown away, too. Others that are not there any
  // more are all that is left of them: they are kept as they are, and lost() tells of them.
  [[nodiscard]] bool are_equal(const proto::RemoteReply::End& end);
  struct Lost {
    std::filesystem::path copy;  // of what had come
    std::string name;            // there
    bool was_removed = false;    // as was said there; else nothing was said of it
  };
  [[nodiscard]] const std::vector<Lost>& lost() const noexcept { return lost_; }
  // They take their places. Until then, one that replaces a file may not have.
  Result<void> finish();

  // Those that are in their places, but for files of which it is not known that they are copies.
  [[nodiscard]] std::vector<CopiedFile> files() const;

 private:
  struct Copy {
    std::string name;  // there
    LocalCopy file;
    bool is_kept = false;   // all of it was here before, and nobody has said yet that it is a beginning of what is there
    bool is_whole = false;  // a recording that had ended was here before: what is there is the same, or another one
  };
  bool keep_what_came(Copy& copy, const proto::RemoteReply::End& end);
  Result<LocalCopy> make(const proto::RemoteReply::File& file, const std::filesystem::path& path);

  Of of_;
  Place place_;
  Overwrite overwrite_;
  Beginnings beginnings_;
  bool has_found_beginning_ = false;
  std::list<Copy> copies_;  // as they came
  std::map<std::uint32_t, Copy*> by_number_;
  std::size_t made_ = 0;
  std::vector<Lost> lost_;
};

}  // namespace lanescope::remote
