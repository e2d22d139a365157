#include "model/file/new_file.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstring>
#include <optional>
#include <utility>

#include "file_lock.h"
#include "own_link.h"

namespace lanescope {
namespace {

Error exists_already(const std::filesystem::path& path) { return {path.string() + " exists already. Give another name, or allow overwriting with -f."}; }

Error not_created(const std::filesystem::path& path, int reason) {
  return {"Can't create " + path.string() + ": " + std::strerror(reason) + ". Give another place."};
}

// The list that remove_new_files() reads.
struct Unfinished {
  enum : int { kFree, kChanging, kUsed };
  std::atomic<int> state{kFree};
  int folder = -1;
  std::array<char, NAME_MAX + 1> name{};
};
std::array<Unfinished, 128> unfinished;

std::atomic<mode_t> permitted{Readers::kAsUsual.permitted};  // of all new files

Unfinished* note_unfinished(int folder, const std::string& name) {
  for (Unfinished& entry : unfinished) {
    int expected = Unfinished::kFree;
    if (!entry.state.compare_exchange_strong(expected, Unfinished::kChanging)) continue;
    entry.folder = folder;
    std::memcpy(entry.name.data(), name.c_str(), name.size() + 1);
    entry.state.store(Unfinished::kUsed);
    return &entry;
  }
  return nullptr;
}

// As much of a name as leaves room for an addition.
std::string beginning_of(const std::string& name) {
  constexpr std::size_t kLongest = 200;
  std::size_t end = std::min(kLongest, name.size());
  while (end > 0 && end < name.size() && (static_cast<unsigned char>(name[end]) & 0xc0) == 0x80)
    --end;  // do not cut within a character, because some file systems refuse that
  return name.substr(0, end);
}

// An unguessable name, which nobody can have created before.
std::string name_beside(const std::string& name) {
  std::uint64_t number = 0;
  if (getrandom(&number, sizeof(number), 0) != sizeof(number)) number = static_cast<std::uint64_t>(getpid());
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), ".%016llx.partial", static_cast<unsigned long long>(number));
  return beginning_of(name) + text.data();
}

// Moves a file of a folder to a name that is free. Returns false, with errno, if it can't be moved, or if something has that name.
bool move_to_free_name(int folder, const char* from, const char* to) {
  if (renameat2(folder, from, folder, to, RENAME_NOREPLACE) == 0) return true;
  if (errno != EINVAL && errno != ENOSYS) return false;
  // The file system does not support this rename. A link fails if something is there.
  if (linkat(folder, from, folder, to, 0) == 0) return unlinkat(folder, from, 0) == 0;
  return (errno == EPERM || errno == EOPNOTSUPP) && faccessat(folder, to, F_OK, AT_SYMLINK_NOFOLLOW) != 0 && renameat(folder, from, folder, to) == 0;
}

// True if a file of a folder is the one that is open. Its number is no other file's meanwhile.
bool is_named(int folder, const std::string& name, int descriptor) {
  struct stat named {};
  struct stat opened {};
  return descriptor >= 0 && fstatat(folder, name.c_str(), &named, AT_SYMLINK_NOFOLLOW) == 0 && fstat(descriptor, &opened) == 0 &&
         named.st_dev == opened.st_dev && named.st_ino == opened.st_ino;
}

// The existing object at a place.
struct Occupant {
  bool is_there = false;
  mode_t permissions = 0;
  bool is_ours = false;
};

// True if a link represents an open file of a process, as /dev/stdout does.
bool is_of_open_file(const std::filesystem::path& link) {
  const int opened = open(link.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC);
  struct statfs facts {};
  const bool is_in_proc = opened >= 0 && fstatfs(opened, &facts) == 0 && facts.f_type == PROC_SUPER_MAGIC;
  if (opened >= 0) close(opened);
  return is_in_proc;
}

// Follows our own links. Fails if something is there that can't or must not be replaced.
Result<Occupant> look_at(std::filesystem::path& path, Overwrite overwrite) {
  const std::filesystem::path given = path;
  for (int links = 0; links <= kMostLinks; ++links) {
    struct stat facts {};
    if (lstat(path.c_str(), &facts) != 0) {
      if (errno == ENOENT) return Occupant{};
      return not_created(path, errno);
    }
    if (S_ISREG(facts.st_mode) && overwrite == Overwrite::kRefuse) return exists_already(path);
    if (S_ISREG(facts.st_mode)) return Occupant{true, facts.st_mode & 0777, facts.st_uid == geteuid()};
    if (!S_ISLNK(facts.st_mode)) return Error{path.string() + " is not a file: give another name."};
    if (is_of_open_file(path))
      return Error{given.string() + " stands for a file that is open, which none can replace. Give another name; exports write to standard output with -o -."};
    const std::optional<std::filesystem::path> target = target_of_link(path, LinksOf::kThisUser);
    if (!target) return Error{path.string() + " is a link of another user, which is not followed. Remove it, or give another name."};
    path = *target;
  }
  return Error{path.string() + " is a link that leads to too many others. Give another name."};
}

// True if a writer has locked it, as a recorder locks its file. `name` is in the folder, or is a path with AT_FDCWD.
bool is_locked(int folder, const char* name) {
  const int file = openat(folder, name, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW | O_CLOEXEC);
  if (file < 0) return false;
  const bool is_locked = shared_lock(file) == FileLock::kOthers;
  close(file);
  return is_locked;
}

Error is_being_recorded(const std::filesystem::path& path) {
  return {path.string() + " is being recorded. Give another name, or wait until the recording has ended."};
}

}  // namespace

struct NewFile::State {
  std::filesystem::path path;
  Overwrite overwrite = Overwrite::kRefuse;
  std::string name;                   // in its folder, until it takes its place
  std::optional<mode_t> permissions;  // set when it takes its place, from the replaced file; until then its owner can read and write it
  int folder = -1;                    // kept open, because its path may lead elsewhere later
  int descriptor = -1;
  Unfinished* entry = nullptr;
  bool is_there = false;  // under `name`
  bool has_taken_place = false;
  int earlier = -1;          // the file that was set aside
  std::string earlier_name;  // its name in the folder

  ~State() {
    if (is_there) unlinkat(folder, name.c_str(), 0);
    forget();
    forget_set_aside();
    if (descriptor >= 0) close(descriptor);
    if (folder >= 0) close(folder);
  }
  void forget() {
    if (entry != nullptr) entry->state.store(Unfinished::kFree);
    entry = nullptr;
  }
  [[nodiscard]] std::string own_path() const { return "/proc/self/fd/" + std::to_string(descriptor); }
  // A file without a name disappears with its last descriptor, however this process ends. Not every file system supports such files.
  bool open_without_name(mode_t mode) {
    descriptor = openat(folder, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, mode);
    if (descriptor < 0) return false;
    if (access(own_path().c_str(), F_OK) == 0) return true;
    close(std::exchange(descriptor, -1));  // without /proc it could not get a name
    return false;
  }
  bool open_with_name(mode_t mode) {
    descriptor = openat(folder, name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
    is_there = descriptor >= 0;
    if (is_there) entry = note_unfinished(folder, name);
    return is_there;
  }
  bool give_name() {
    if (is_there || has_taken_place) return is_there;
    entry = note_unfinished(folder, name);
    is_there = linkat(AT_FDCWD, own_path().c_str(), folder, name.c_str(), AT_SYMLINK_FOLLOW) == 0;
    return is_there;
  }
  [[nodiscard]] bool move() {
    const std::string place = path.filename();
    if (!is_there && overwrite == Overwrite::kRefuse) return linkat(AT_FDCWD, own_path().c_str(), folder, place.c_str(), AT_SYMLINK_FOLLOW) == 0;
    if (!give_name()) return false;
    if (overwrite == Overwrite::kAllow) return renameat(folder, name.c_str(), folder, place.c_str()) == 0;
    return move_to_free_name(folder, name.c_str(), place.c_str());
  }

  // Gives the file at the place a further name, or another one if it can't have two: in the second case the place is free for a moment. If that fails, the
  // file is replaced nevertheless, as was asked for: otherwise the new one would be lost.
  void set_aside() {
    constexpr int kMostNames = 1000;
    const std::string place = path.filename();
    const int there = openat(folder, place.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC);
    for (int number = 0; there >= 0 && number < kMostNames; ++number) {
      earlier_name = beginning_of(place) + ".earlier" + (number == 0 ? std::string() : "." + std::to_string(number));
      if (linkat(folder, place.c_str(), folder, earlier_name.c_str(), 0) == 0 ||
          (errno != EEXIST && move_to_free_name(folder, place.c_str(), earlier_name.c_str()))) {
        earlier = there;
        return;
      }
      if (errno != EEXIST) break;
    }
    if (there >= 0) close(there);
  }
  void forget_set_aside() {
    if (earlier >= 0) close(std::exchange(earlier, -1));
  }
  [[nodiscard]] bool has_set_aside() const { return is_named(folder, earlier_name, earlier); }
};

NewFile::NewFile(std::unique_ptr<State> state) : state_(std::move(state)) {}
NewFile::NewFile(NewFile&&) noexcept = default;
NewFile& NewFile::operator=(NewFile&&) noexcept = default;
NewFile::~NewFile() = default;

int NewFile::descriptor() const noexcept { return state_->descriptor; }
const std::filesystem::path& NewFile::path() const noexcept { return state_->path; }
std::filesystem::path NewFile::beside() {
  state_->give_name();
  return state_->path.parent_path() / state_->name;
}
std::filesystem::path NewFile::to_read() const {
  return state_->is_there ? state_->path.parent_path() / state_->name : std::filesystem::path(state_->own_path());
}
bool NewFile::has_taken_place() const noexcept { return state_->has_taken_place; }

void keep_new_files_to(Readers readers) noexcept {
  permitted.fetch_and(readers.permitted);
  // Users who may read a file may also search folders with the same permissions. The execute bits only matter for folders here.
  const mode_t may_read = readers.permitted & 0044;
  const mode_t kept = readers.permitted | may_read >> 2;
  umask(umask(077) | (~kept & 077));
}

Result<NewFile> NewFile::create(const std::filesystem::path& path, Overwrite overwrite, Readers readers) {
  readers.permitted &= permitted.load();
  auto state = std::make_unique<State>();
  state->path = path;
  state->overwrite = overwrite;
  const Result<Occupant> occupant = look_at(state->path, overwrite);
  if (!occupant) return occupant.error();
  if (occupant->is_there && is_locked(AT_FDCWD, state->path.c_str())) return is_being_recorded(state->path);
  const std::filesystem::path parent = state->path.parent_path();
  const char* folder = parent.empty() ? "." : parent.c_str();
  state->folder = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (state->folder < 0) state->folder = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);  // for a folder that we may not list
  if (state->folder < 0) return not_created(path, errno);
  state->name = name_beside(state->path.filename());
  const mode_t mode = 0666 & (readers.permitted | 0600);  // minus the umask
  if (!state->open_without_name(mode) && !state->open_with_name(mode)) return not_created(path, errno);
  if (occupant->is_there && occupant->is_ours) {
    state->permissions = occupant->permissions & (readers.permitted | 0700);
    fchmod(state->descriptor, *state->permissions | 0600);
  }
  return NewFile(std::move(state));
}

Error not_written(const std::string& file, const std::string& why) {
  return {file + " can't be written: " + why + ". Free some space, or give another place with -o."};
}

Result<NewFile> NewFile::reopen(const std::filesystem::path& path) {
  auto state = std::make_unique<State>();
  state->path = path;
  state->has_taken_place = true;
  const auto refused = [&path](const std::string& why) { return Error{path.string() + " can't be gone on with: " + why + ". Give another name."}; };
  state->descriptor = open(path.c_str(), O_RDWR | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW | O_CLOEXEC);
  struct stat facts {};
  if (state->descriptor < 0 || fstat(state->descriptor, &facts) != 0) return refused(std::strerror(errno));
  if (!S_ISREG(facts.st_mode) || facts.st_uid != geteuid() || facts.st_nlink != 1) return refused("it is not a file of yours with one name");
  return NewFile(std::move(state));
}

Result<void> NewFile::take_place(LockOfPlace lock, Replaced replaced) {
  State& state = *state_;
  const auto failure = [&](int reason) { return Error{state.path.string() + " can't be written: " + std::strerror(reason) + "."}; };
  if (fsync(state.descriptor) != 0 && errno != EINVAL) return failure(errno);
  if (state.overwrite == Overwrite::kAllow && lock == LockOfPlace::kOthers && is_locked(state.folder, state.path.filename().c_str()))
    return is_being_recorded(state.path);
  if (state.permissions) fchmod(state.descriptor, *state.permissions);
  if (state.overwrite == Overwrite::kAllow && replaced == Replaced::kSetAside) state.set_aside();
  if (!state.move()) {
    const int reason = errno;
    put_back();
    return reason == EEXIST ? exists_already(state.path) : failure(reason);
  }
  state.is_there = false;
  state.has_taken_place = true;
  state.forget();
  fsync(state.folder);  // not every file system supports it; the file itself is there
  return {};
}

std::filesystem::path NewFile::set_aside() const {
  return state_->has_set_aside() ? state_->path.parent_path() / state_->earlier_name : std::filesystem::path();
}

void NewFile::remove_set_aside() noexcept {
  if (state_->has_set_aside()) unlinkat(state_->folder, state_->earlier_name.c_str(), 0);
  state_->forget_set_aside();
}

void NewFile::put_back() noexcept {
  State& state = *state_;
  if (!state.has_set_aside()) return;
  const std::string place = state.path.filename();
  const char* const name = state.earlier_name.c_str();
  const bool is_back = is_named(state.folder, place, state.earlier)      ? unlinkat(state.folder, name, 0) == 0  // it had both names
                       : is_named(state.folder, place, state.descriptor) ? renameat(state.folder, name, state.folder, place.c_str()) == 0
                                                                         : move_to_free_name(state.folder, name, place.c_str());
  if (is_back) state.forget_set_aside();
}

void remove_new_files() noexcept {
  for (const Unfinished& entry : unfinished)
    if (entry.state.load() == Unfinished::kUsed) unlinkat(entry.folder, entry.name.data(), 0);
}

}  // namespace lanescope
