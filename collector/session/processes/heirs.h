// Forked children of an ended process that have not reported yet. They hold its connection open and have its memory; a child that finds no way to us leaves
// word there.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "file_descriptor.h"
#include "processes/memory/target_memory.h"
#include "processes/unfollowed/unfollowed.h"

namespace lanescope::session {

class Heirs {
 public:
  // `parent`: "[4711] python". Only the header of `memory` is left. `known`: number of its children whose word was taken.
  Heirs(std::string parent, std::unique_ptr<TargetMemory> memory, FileDescriptor connection, std::uint32_t known);

  // Takes the word that was left. Returns true if there are still such children. Does not block.
  bool look(UnfollowedProcesses& unfollowed);
  [[nodiscard]] int connection() const noexcept { return connection_.get(); }

 private:
  std::string parent_;
  std::unique_ptr<TargetMemory> memory_;
  FileDescriptor connection_;
  std::uint32_t known_;
};

// Counts and names children of `parent` that left word, except the first `known`, which is increased.
void take_word_of_lost(const channel::LostChildren& lost, std::uint32_t& known, const std::string& parent, UnfollowedProcesses& unfollowed);

}  // namespace lanescope::session
