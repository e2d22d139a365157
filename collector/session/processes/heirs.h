// Forked children of a process that has ended, which have not reported yet: they hold its connection open and have its memory, in which one
// that finds no way to us leaves word.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "file_descriptor.h"
#include "processes/target_memory.h"
#include "processes/unfollowed.h"

namespace lanescope::session {

class Heirs {
 public:
  // `parent`: "[4711] python"; of `memory` the header is left; `known`: so many of its children have left word that was taken.
  Heirs(std::string parent, std::unique_ptr<TargetMemory> memory, FileDescriptor connection, std::uint32_t known);

  // Takes the word that was left. Returns whether there are such children still. Does not block.
  bool look(UnfollowedProcesses& unfollowed);
  [[nodiscard]] int connection() const noexcept { return connection_.get(); }

 private:
  std::string parent_;
  std::unique_ptr<TargetMemory> memory_;
  FileDescriptor connection_;
  std::uint32_t known_;
};

// Counts and names children of `parent` of which there is word, beyond the first `known`, which grows.
void take_word_of_lost(const channel::LostChildren& lost, std::uint32_t& known, const std::string& parent, UnfollowedProcesses& unfollowed);

}  // namespace lanescope::session
