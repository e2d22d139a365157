#include "agent/cupti/library/library.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <string_view>

#include <dlfcn.h>
#include <fcntl.h>
#include <glob.h>
#include <unistd.h>

#include "agent/core/faults/held_locks.h"
#include "agent/core/loader/loader.h"
#include "agent/core/memory/page_buffer.h"
#include "agent/core/system_calls.h"
#include "agent/cupti/library/guarded_call.h"
#include "agent/cupti/library/library_file.h"

namespace lanescope::agent::cupti {
namespace {

constexpr char kOverride[] = "LANESCOPE_CUPTI_LIBRARY";
constexpr int kNewestMajor = 13;
constexpr int kOldestMajor = 12;
constexpr std::size_t kPathBytes = 4096;

// Opens libcupti of one major version in its usual places, and skips damaged files.
class Opener {
 public:
  Opener(int major, DamagedFile& damaged) noexcept : major_(major), damaged_(damaged) {}

  void* open() noexcept;

 private:
  void* open_by_name() noexcept;
  void* open_at(const char* format, const char* folder) noexcept;
  void* open_in_toolkit(const char* root) noexcept;
  void* open_in_pip_layout(const char* nvidia_folder) noexcept;
  void* open_beside(char* path) noexcept;
  void* open_beside_mapped_files() noexcept;
  void* open_in_python_packages() noexcept;
  void* open_beside_agent() noexcept;

  int major_;
  DamagedFile& damaged_;
};

void note_damaged(DamagedFile& damaged, const char* path) noexcept {
  if (damaged.path[0] == '\0') std::snprintf(damaged.path, sizeof(damaged.path), "%s", path);
}

void* open_unless_damaged(const char* path, DamagedFile& damaged) noexcept {
  const FileState state = check_library_file(path);
  if (state == FileState::kDamaged) note_damaged(damaged, path);
  return state == FileState::kWhole ? load_file(path, RTLD_LAZY | RTLD_LOCAL) : nullptr;
}

void* open_named(const char* name, DamagedFile& damaged) noexcept {
  char path[kPathBytes];
  return find_library_file(name, path, sizeof(path)) != FileState::kAbsent ? open_unless_damaged(path, damaged) : nullptr;
}

bool name_library(char (&name)[32], int major) noexcept { return std::snprintf(name, sizeof(name), "libcupti.so.%d", major) > 0; }

void* Opener::open_by_name() noexcept {
  char name[32];
  return name_library(name, major_) ? open_named(name, damaged_) : nullptr;
}

void* Opener::open_at(const char* format, const char* folder) noexcept {
  char path[kPathBytes];
  const int length = std::snprintf(path, sizeof(path), format, folder, major_);
  if (length <= 0 || static_cast<std::size_t>(length) >= sizeof(path)) return nullptr;
  return open_unless_damaged(path, damaged_);
}

// Folders below the root of a toolkit that may contain libcupti.
constexpr const char* kToolkitFormats[] = {"%s/extras/CUPTI/lib64/libcupti.so.%d", "%s/lib64/libcupti.so.%d", "%s/lib/libcupti.so.%d",
                                           "%s/targets/x86_64-linux/lib/libcupti.so.%d"};

void* Opener::open_in_toolkit(const char* root) noexcept {
  if (root == nullptr || *root == '\0') return nullptr;
  for (const char* format : kToolkitFormats)
    if (void* library = open_at(format, root)) return library;
  return nullptr;
}

void* Opener::open_in_pip_layout(const char* nvidia_folder) noexcept {
  if (void* library = open_at("%s/cuda_cupti/lib/libcupti.so.%d", nvidia_folder)) return library;
  return open_at("%s/cu13/lib/libcupti.so.%d", nvidia_folder);
}

// `path`: a file that is mapped into the process. If it belongs to a CUDA runtime or to a pip package of NVIDIA's, libcupti may lie beside it.
void* Opener::open_beside(char* path) noexcept {
  if (char* pip = std::strstr(path, "/nvidia/")) {
    const char saved = pip[7];
    pip[7] = '\0';
    void* library = open_in_pip_layout(path);
    pip[7] = saved;
    if (library != nullptr) return library;
  }
  if (std::strstr(path, "/libcudart.so") == nullptr) return nullptr;
  char* slash = std::strrchr(path, '/');
  *slash = '\0';
  if (void* library = open_at("%s/libcupti.so.%d", path)) return library;
  return open_at("%s/../extras/CUPTI/lib64/libcupti.so.%d", path);
}

void* Opener::open_beside_mapped_files() noexcept {
  constexpr std::size_t kMostBytes = 64u << 20;
  PageBuffer maps;
  const int file = system::open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
  if (file < 0) return nullptr;
  while (maps.size() < kMostBytes && maps.reserve(kPathBytes)) {
    const long bytes = system::read(file, maps.end(), kPathBytes);
    if (bytes <= 0) break;
    maps.extend(static_cast<std::size_t>(bytes));
  }
  system::close(file);
  std::string_view left(reinterpret_cast<const char*>(maps.data()), maps.size());
  std::string_view last;
  char path[kPathBytes];
  void* library = nullptr;
  while (library == nullptr && !left.empty()) {
    const std::size_t end = left.find('\n');
    std::string_view line = left.substr(0, end);
    left.remove_prefix(end == std::string_view::npos ? left.size() : end + 1);
    line.remove_prefix(std::min(line.find('/'), line.size()));
    if (line.empty() || line.size() >= kPathBytes || line == last) continue;
    last = line;
    std::memcpy(path, line.data(), line.size());
    path[line.size()] = '\0';
    library = open_beside(path);
  }
  return library;
}

// Searches the packages of the running Python interpreter, even if none of NVIDIA's is loaded yet.
void* Opener::open_in_python_packages() noexcept {
  char executable[kPathBytes];
  const ssize_t length = readlink("/proc/self/exe", executable, sizeof(executable) - 1);
  if (length <= 0) return nullptr;
  executable[length] = '\0';
  *std::strrchr(executable, '/') = '\0';
  char pattern[kPathBytes + 64];
  std::snprintf(pattern, sizeof(pattern), "%s/../lib/python3*/site-packages/nvidia", executable);
  glob_t found{};
  void* library = nullptr;
  if (glob(pattern, GLOB_NOSORT, nullptr, &found) == 0)
    for (std::size_t i = 0; library == nullptr && i < found.gl_pathc; ++i) library = open_in_pip_layout(found.gl_pathv[i]);
  globfree(&found);
  return library;
}

void* Opener::open_beside_agent() noexcept {
  Dl_info self{};
  if (dladdr(reinterpret_cast<const void*>(&load_library), &self) == 0 || self.dli_fname == nullptr) return nullptr;
  char folder[kPathBytes];
  std::snprintf(folder, sizeof(folder), "%s", self.dli_fname);
  char* slash = std::strrchr(folder, '/');
  if (slash == nullptr) return nullptr;
  *slash = '\0';
  return open_at("%s/libcupti.so.%d", folder);
}

void* Opener::open() noexcept {
  if (void* library = open_by_name()) return library;
  if (void* library = open_beside_mapped_files()) return library;
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"})
    if (void* library = open_in_toolkit(getenv(variable))) return library;
  char versioned[64];
  std::snprintf(versioned, sizeof(versioned), "/usr/local/cuda-%d", major_);
  if (void* library = open_in_toolkit(versioned)) return library;
  if (void* library = open_in_toolkit("/usr/local/cuda")) return library;
  if (void* library = open_in_python_packages()) return library;
  return open_beside_agent();
}

std::uint32_t read_driver_version() noexcept {
  void* driver = load_file("libcuda.so.1", RTLD_NOLOAD | RTLD_LAZY);
  if (driver == nullptr) return 0;
  int version = 0;
  const auto get = reinterpret_cast<CUresult (*)(int*)>(dlsym(driver, "cuDriverGetVersion"));
  if (get == nullptr || get(&version) != CUDA_SUCCESS) version = 0;
  dlclose(driver);  // the program had loaded it before
  return static_cast<std::uint32_t>(version);
}

// The libcupti that is already in the process.
void* find_loaded(int major) noexcept {
  char name[32];
  return name_library(name, major) ? load_file(name, RTLD_NOLOAD | RTLD_LAZY | RTLD_LOCAL) : nullptr;
}

void* open_any(int driver_major, DamagedFile& damaged) noexcept {
  for (int major = kNewestMajor; major >= kOldestMajor; --major)
    if (void* library = find_loaded(major)) return library;
  // A newer driver works with an older CUPTI, but not vice versa.
  for (int major = driver_major < kNewestMajor ? driver_major : kNewestMajor; major >= kOldestMajor; --major)
    if (void* library = Opener(major, damaged).open()) return library;
  return nullptr;
}

template <typename Function>
bool resolve(void* library, const char* name, Function*& function) noexcept {
  function = reinterpret_cast<Function*>(dlsym(library, name));
  return function != nullptr;
}

bool resolve_all(void* library, Functions& f) noexcept {
  resolve(library, "cuptiSubscribe_v2", f.subscribe_v2);
  resolve(library, "cuptiUnsubscribe", f.unsubscribe);
  resolve(library, "cuptiGetCallbackState", f.get_callback_state);
  resolve(library, "cuptiSetThreadIdType", f.set_thread_id_type);
  resolve(library, "cuptiActivityEnableRuntimeApi", f.enable_runtime_api);
  resolve(library, "cuptiActivityEnableAndDump", f.enable_and_dump);
  resolve(library, "cuptiActivityEnableDriverApi", f.enable_driver_api);
  resolve(library, "cuptiActivityEnableAllSyncRecords", f.enable_all_sync_records);
  resolve(library, "cuptiGetContextId", f.get_context_id);
  resolve(library, "cuptiGetStreamIdEx", f.get_stream_id);
  resolve(library, "cuptiActivityConfigureUnifiedMemoryCounter", f.configure_unified_memory);
  resolve(library, "cuptiActivityEnableCudaEventDeviceTimestamps", f.enable_event_timestamps);
  return resolve(library, "cuptiGetVersion", f.get_version) && resolve(library, "cuptiGetResultString", f.get_result_string) &&
         resolve(library, "cuptiSubscribe", f.subscribe) && resolve(library, "cuptiEnableCallback", f.enable_callback) &&
         resolve(library, "cuptiGetCallbackName", f.get_callback_name) && resolve(library, "cuptiActivityRegisterCallbacks", f.register_callbacks) &&
         resolve(library, "cuptiActivityEnable", f.enable) && resolve(library, "cuptiActivityDisable", f.disable) &&
         resolve(library, "cuptiActivityFlushAll", f.flush_all) && resolve(library, "cuptiActivityGetNextRecord", f.get_next_record) &&
         resolve(library, "cuptiActivityGetNumDroppedRecords", f.get_dropped_records);
}

// The versions whose records begin with the layout that records.cpp reads.
bool records_are_known(std::uint32_t version) noexcept { return (version >= 19 && version <= 99) || version / 10'000 == 13; }

bool is_given() noexcept {
  const char* path = getenv(kOverride);
  return path != nullptr && *path != '\0';
}

}  // namespace

void* open_library(int driver_major, DamagedFile& damaged) noexcept {
  if (!is_given()) return open_any(driver_major, damaged);
  const char* const given = getenv(kOverride);
  return std::strchr(given, '/') != nullptr ? open_unless_damaged(given, damaged) : open_named(given, damaged);
}

Library load_library() noexcept {
  Library library;
  if (!is_given()) {
    library.driver_version = read_driver_version();
    if (library.driver_version == 0) {
      library.result = LoadResult::kNoDriver;
      return library;
    }
  }
  void* handle = open_library(static_cast<int>(library.driver_version / 1000), library.damaged);
  if (handle == nullptr || !resolve_all(handle, library.functions)) {
    if (library.damaged.path[0] != '\0') library.result = LoadResult::kDamaged;
    return library;
  }
  watch_locks_of(reinterpret_cast<const void*>(library.functions.flush_all));
  if (call_cupti([&] { library.functions.get_version(&library.version); }) == Guarded::kFaulted) {
    library.result = LoadResult::kFaulted;
    return library;
  }
  library.result = records_are_known(library.version) ? LoadResult::kLoaded : LoadResult::kUnknownMajor;
  return library;
}

}  // namespace lanescope::agent::cupti
