// The copies of what is followed, by the names that the files have there. What is said of them is checked: anything else than a continuation is
// refused. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <string>
#include <vector>

#include "collector/remote/remote_work.h"
#include "here/local_copy.h"
#include "lanescope/remote.pb.h"

namespace lanescope::remote {

class Copies {
 public:
  using Place = std::function<Result<std::filesystem::path>(std::size_t number)>;
  Copies(Place place, Overwrite overwrite) : place_(std::move(place)), overwrite_(overwrite) {}

  // Numbers of files hold for one link, and for what is asked for on it once.
  void forget_numbers() { by_number_.clear(); }
  void describe(proto::RemoteRequest::Follow& request) const;

  Result<void> take(const proto::RemoteReply::File& file);
  Result<void> take(const proto::RemoteReply::Bytes& bytes);
  // Whether the copies hold what is there. Those of files that were thrown away there are thrown away, too.
  [[nodiscard]] bool are_equal(const proto::RemoteReply::End& end);
  // They take their places. Until then, one that replaces a file may not have.
  Result<void> finish();

  // Those that are in their places.
  [[nodiscard]] std::vector<CopiedFile> files() const;

 private:
  struct Copy {
    std::string name;  // there
    LocalCopy file;
  };
  Place place_;
  Overwrite overwrite_;
  std::list<Copy> copies_;  // as they came
  std::map<std::uint32_t, Copy*> by_number_;
  std::size_t made_ = 0;
};

}  // namespace lanescope::remote
