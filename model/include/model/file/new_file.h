// A new file that later takes its place. It is created beside that place, without a name, and is moved there when it is complete enough to replace what is
// there. A file that is replaced stays complete until then, and programs that have it open keep the old content. A new file that is never finished disappears,
// however this process ends. If the file system has no files without names (NFS), the new file has an unguessable name, NAME.*.partial, which remains if the
// process is killed.
//
// Links: a link at the place is followed if it belongs to this user, and refused if it belongs to somebody else. If something else than a file (a pipe, a
// device, a folder) is at the place, it is refused and never opened.
//
// Threads: one at a time.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <memory>

#include "model/file/result.h"

namespace lanescope {

enum class Overwrite { kRefuse, kAllow };

// The users that may access a new file, in addition to its owner: the maximum of mode bits for group and others. The umask, or the file that is replaced,
// decides which of these bits they get.
struct Readers {
  mode_t permitted;
  static const Readers kAsUsual, kOwnerAlone;
  bool operator==(const Readers&) const = default;
};
inline constexpr Readers Readers::kAsUsual{0777}, Readers::kOwnerAlone{0700};

// From now on, all new files of this process have at most these permissions, even if they replace a file with more permissions. Limits of earlier calls stay
// in force. Changes the umask, for folders and for files that other code creates.
void keep_new_files_to(Readers readers) noexcept;

// The error if a file made from a trace can't be written: "run.sqlite can't be written: No space left on device. Free some space, or ...".
[[nodiscard]] Error not_written(const std::string& file, const std::string& why);

class NewFile {
 public:
  // The new file is empty, and open for writing and reading. Fails with one sentence if it can't be created, or if something at `path` can't or must not be
  // replaced.
  static Result<NewFile> create(const std::filesystem::path& path, Overwrite overwrite, Readers readers);

  // Opens a file that is already in its place to continue it, unchanged. Fails with one sentence if it does not exist, does not belong to this user alone (a
  // link, a file of several names), or can't be written.
  static Result<NewFile> reopen(const std::filesystem::path& path);

  NewFile(NewFile&&) noexcept;
  NewFile& operator=(NewFile&&) noexcept;
  ~NewFile();  // removes the file if it has not taken its place

  [[nodiscard]] int descriptor() const noexcept;
  [[nodiscard]] const std::filesystem::path& path() const noexcept;  // of its place
  // The path of the file before it takes its place, for callers that need a path. The file gets a name with this call.
  [[nodiscard]] std::filesystem::path beside();
  [[nodiscard]] std::filesystem::path to_read() const;  // before it takes its place: a path that works in this process only
  [[nodiscard]] bool has_taken_place() const noexcept;

  enum class LockOfPlace {
    kOthers,  // a file that another writer, such as a recorder, has locked is not replaced
    kOurs,    // the caller holds the lock on the file that is replaced
  };
  enum class Replaced {
    kRemoved,
    kSetAside,  // it lies beside its place as NAME.earlier, NAME.earlier.1 and so on until it is put back or removed, also if this process is killed before
  };
  // Writes the file to the disk, then moves it to its place. Fails if a file has appeared there meanwhile and overwrite is kRefuse, or if the file there is
  // being written. After a failure that file stays, and the new file stays until *this ends.
  Result<void> take_place(LockOfPlace lock = LockOfPlace::kOthers, Replaced replaced = Replaced::kRemoved);

  // The file that was set aside; empty if none is.
  [[nodiscard]] std::filesystem::path set_aside() const;
  void remove_set_aside() noexcept;
  // Gives the file that was set aside its place back. The new file has no name then. Has no effect if another file is there by now.
  void put_back() noexcept;

 private:
  struct State;
  explicit NewFile(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// Removes the new files of this process that have not taken their places. Async-signal-safe, for handlers of signals that end the program. At most 128 files
// at a time are known.
void remove_new_files() noexcept;

}  // namespace lanescope
