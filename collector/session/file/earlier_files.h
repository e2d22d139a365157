// Which files a recording may replace with -f. Recorders of one job (mpirun) may be given one name, and their captures begin and end at any time.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "file_descriptor.h"
#include "model/file/trace_file.h"

namespace lanescope::session {

// Marks a finished file as one whose recorder still runs, as long as this object lives. It can be read and added to. Does nothing for another file than the one
// that is meant, and where the file system has no locks of byte ranges.
class RunningRecordersFile {
 public:
  RunningRecordersFile() = default;
  RunningRecordersFile(const std::filesystem::path& path, const std::optional<FileIdentity>& meant);
  [[nodiscard]] bool is_marked() const noexcept { return file_.valid(); }

 private:
  FileDescriptor file_;
};

// The files that were there when a recording began, or was asked for captures, and that no other recorder had made which ran then.
class EarlierFiles {
 public:
  // The place of a capture's file, by its number from 1; nothing if it is not known before, as of a name with the pid, which other recordings do not have.
  using Place = std::function<std::optional<std::filesystem::path>(std::uint32_t number)>;
  enum class Captures { kOne, kSeveral };

  EarlierFiles() = default;
  EarlierFiles(Captures captures, const Place& place);
  // Of a recording with a file for each rank: all that are there and may have a name of it. Recorders on several machines have ranks of their own, so one that
  // runs protects not all of these files but those that are as new as its own.
  EarlierFiles(Captures captures, const std::vector<std::filesystem::path>& of_ranks);

  // True if this is still the file that was there, if there is none, and if the places were not known.
  [[nodiscard]] bool may_be_replaced(const std::filesystem::path& path) const;
  // Notes that the recording has this file from now on.
  void note_taken(const std::filesystem::path& path);
  // One sentence about the files that several captures have replaced, and those that are still there. Empty if none was replaced.
  [[nodiscard]] std::string said_of_replaced() const;

 private:
  struct Earlier {
    FileIdentity identity;
    bool is_replaced = false;
  };
  Captures captures_ = Captures::kOne;
  bool is_known_ = false;                                   // where they are
  std::map<std::filesystem::path, Earlier> files_;          // none of those that another recorder has made, or may have made, which runs
  std::map<std::uint32_t, std::filesystem::path> numbers_;  // of captures whose files' places are known before
};

}  // namespace lanescope::session
