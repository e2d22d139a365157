// A new file on the way to its place: it is made beside that place, without a name, and takes the place once it is worth what is there. So a
// file that is replaced is whole until then, and readers of it keep it as it was; and one that is never finished is gone, however this process
// ends. Where the file system has no files without names (NFS), it has one that nobody can guess, NAME.*.partial, which stays where the process
// is killed.
//
// Links: one that stands at the place and belongs to this user is followed to where it leads; one of somebody else is refused. What is at
// the place and is no file (a pipe, a device, a folder) is refused and never opened.
//
// Threads: one at a time.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <memory>

#include "model/file/result.h"

namespace lanescope {

enum class Overwrite { kRefuse, kAllow };

// Whom a new file may be open to, beside its owner: the bits of a mode that group and others may have, at most. Which of these they get, the umask
// says, or the file in its place.
struct Readers {
  mode_t permitted;
  static const Readers kAsUsual, kOwnerAlone;
  bool operator==(const Readers&) const = default;
};
inline constexpr Readers Readers::kAsUsual{0777}, Readers::kOwnerAlone{0700};

// From here on all new files of this process are open to these at most, also those that take the place of one that more may read. What was said
// before holds, too. Changes the umask, for folders and for files of other makers.
void keep_new_files_to(Readers readers) noexcept;

// What to say where a file that is made of a trace can't be written: "run.sqlite can't be written: No space left on device. Free some space, or ...".
[[nodiscard]] Error not_written(const std::string& file, const std::string& why);

class NewFile {
 public:
  // Empty, and open for writing and reading. Fails with one sentence where it can't be made, and where something is at `path` that can't be
  // replaced, or may not be.
  static Result<NewFile> create(const std::filesystem::path& path, Overwrite overwrite, Readers readers);

  // One that is in its place already, to be gone on with, as it is. Fails with one sentence where it is not there, is no file of this user
  // alone (a link, a file of several names), or can't be written.
  static Result<NewFile> reopen(const std::filesystem::path& path);

  NewFile(NewFile&&) noexcept;
  NewFile& operator=(NewFile&&) noexcept;
  ~NewFile();  // removes it where it has not taken its place

  [[nodiscard]] int descriptor() const noexcept;
  [[nodiscard]] const std::filesystem::path& path() const noexcept;  // of its place
  // Where it is until it has taken its place, for who needs a path to it: it has a name from here on.
  [[nodiscard]] std::filesystem::path beside();
  [[nodiscard]] std::filesystem::path to_read() const;  // until then, a path that leads to it in this process alone
  [[nodiscard]] bool has_taken_place() const noexcept;

  enum class LockOfPlace {
    kOthers,  // a file that another writer has locked, as a recorder does, is not replaced
    kOurs,    // the caller has locked what is to be replaced
  };
  // Brings its bytes to the disk, then puts it where it belongs. Fails where a file has come there meanwhile, with Overwrite::kRefuse, or where the
  // one that is there is being written; it then stays, and so does the new one until *this ends.
  Result<void> take_place(LockOfPlace lock = LockOfPlace::kOthers);

 private:
  struct State;
  explicit NewFile(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// Removes the new files of this process that have not taken their places. For handlers of signals that end the program: async-signal-safe.
// Up to 128 files at a time are known.
void remove_new_files() noexcept;

}  // namespace lanescope
