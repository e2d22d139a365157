#include "agent/cupti/library.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>

#include <dlfcn.h>
#include <fcntl.h>
#include <glob.h>
#include <unistd.h>

namespace lanescope::agent::cupti {
namespace {

constexpr char kOverride[] = "LANESCOPE_CUPTI_LIBRARY";
constexpr int kNewestMajor = 13;
constexpr int kOldestMajor = 12;
constexpr std::size_t kPathBytes = 4096;

void* open_at(int flags, const char* format, const char* folder, int major) noexcept {
  char path[kPathBytes];
  const int length = std::snprintf(path, sizeof(path), format, folder, major);
  if (length <= 0 || static_cast<std::size_t>(length) >= sizeof(path)) return nullptr;
  return dlopen(path, flags | RTLD_LAZY | RTLD_LOCAL);
}

// Folders in which libcupti may lie, below the root of a toolkit.
constexpr const char* kToolkitFormats[] = {"%s/extras/CUPTI/lib64/libcupti.so.%d", "%s/lib64/libcupti.so.%d", "%s/lib/libcupti.so.%d",
                                           "%s/targets/x86_64-linux/lib/libcupti.so.%d"};

void* open_in_toolkit(const char* root, int major) noexcept {
  if (root == nullptr || *root == '\0') return nullptr;
  for (const char* format : kToolkitFormats)
    if (void* library = open_at(0, format, root, major)) return library;
  return nullptr;
}

void* open_in_pip_layout(const char* nvidia_folder, int major) noexcept {
  if (void* library = open_at(0, "%s/cuda_cupti/lib/libcupti.so.%d", nvidia_folder, major)) return library;
  return open_at(0, "%s/cu13/lib/libcupti.so.%d", nvidia_folder, major);
}

// One path of a file that is mapped into the process: beside a CUDA runtime, or in a pip package of NVIDIA's, its sibling may lie.
void* open_beside(char* path, int major) noexcept {
  if (char* pip = std::strstr(path, "/nvidia/")) {
    const char saved = pip[7];
    pip[7] = '\0';
    void* library = open_in_pip_layout(path, major);
    pip[7] = saved;
    if (library != nullptr) return library;
  }
  if (std::strstr(path, "/libcudart.so") == nullptr) return nullptr;
  char* slash = std::strrchr(path, '/');
  *slash = '\0';
  if (void* library = open_at(0, "%s/libcupti.so.%d", path, major)) return library;
  return open_at(0, "%s/../extras/CUPTI/lib64/libcupti.so.%d", path, major);
}

void* open_beside_mapped_files(int major) noexcept {
  FILE* maps = std::fopen("/proc/self/maps", "re");
  if (maps == nullptr) return nullptr;
  char line[kPathBytes];
  char last[kPathBytes] = {};
  void* library = nullptr;
  while (library == nullptr && std::fgets(line, sizeof(line), maps) != nullptr) {
    char* path = std::strchr(line, '/');
    if (path == nullptr) continue;
    path[std::strcspn(path, "\n")] = '\0';
    if (std::strcmp(path, last) == 0) continue;
    std::strcpy(last, path);
    library = open_beside(path, major);
  }
  std::fclose(maps);
  return library;
}

// Python's packages, of the interpreter that runs, although none of theirs may be loaded yet.
void* open_in_python_packages(int major) noexcept {
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
    for (std::size_t i = 0; library == nullptr && i < found.gl_pathc; ++i) library = open_in_pip_layout(found.gl_pathv[i], major);
  globfree(&found);
  return library;
}

void* open_beside_agent(int major) noexcept {
  Dl_info self{};
  if (dladdr(reinterpret_cast<const void*>(&load_library), &self) == 0 || self.dli_fname == nullptr) return nullptr;
  char folder[kPathBytes];
  std::snprintf(folder, sizeof(folder), "%s", self.dli_fname);
  char* slash = std::strrchr(folder, '/');
  if (slash == nullptr) return nullptr;
  *slash = '\0';
  return open_at(0, "%s/libcupti.so.%d", folder, major);
}

void* open_major(int major) noexcept {
  if (void* library = open_at(0, "%slibcupti.so.%d", "", major)) return library;
  if (void* library = open_beside_mapped_files(major)) return library;
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"})
    if (void* library = open_in_toolkit(getenv(variable), major)) return library;
  char versioned[64];
  std::snprintf(versioned, sizeof(versioned), "/usr/local/cuda-%d", major);
  if (void* library = open_in_toolkit(versioned, major)) return library;
  if (void* library = open_in_toolkit("/usr/local/cuda", major)) return library;
  if (void* library = open_in_python_packages(major)) return library;
  return open_beside_agent(major);
}

std::uint32_t read_driver_version() noexcept {
  void* driver = dlopen("libcuda.so.1", RTLD_NOLOAD | RTLD_LAZY);
  if (driver == nullptr) return 0;
  int version = 0;
  const auto get = reinterpret_cast<CUresult (*)(int*)>(dlsym(driver, "cuDriverGetVersion"));
  if (get == nullptr || get(&version) != CUDA_SUCCESS) version = 0;
  dlclose(driver);  // it was there before
  return static_cast<std::uint32_t>(version);
}

void* open_any(int driver_major) noexcept {
  for (int major = kNewestMajor; major >= kOldestMajor; --major)
    if (void* library = open_at(RTLD_NOLOAD, "%slibcupti.so.%d", "", major)) return library;
  // A newer driver serves an older CUPTI; the other way round it does not work.
  for (int major = driver_major < kNewestMajor ? driver_major : kNewestMajor; major >= kOldestMajor; --major)
    if (void* library = open_major(major)) return library;
  return nullptr;
}

template <typename Function>
bool resolve(void* library, const char* name, Function*& function) noexcept {
  function = reinterpret_cast<Function*>(dlsym(library, name));
  return function != nullptr;
}

bool resolve_all(void* library, Functions& f) noexcept {
  resolve(library, "cuptiSubscribe_v2", f.subscribe_v2);
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
         resolve(library, "cuptiGetCallbackName", f.get_callback_name) &&
         resolve(library, "cuptiActivityRegisterCallbacks", f.register_callbacks) && resolve(library, "cuptiActivityEnable", f.enable) &&
         resolve(library, "cuptiActivityDisable", f.disable) && resolve(library, "cuptiActivityFlushAll", f.flush_all) &&
         resolve(library, "cuptiActivityGetNextRecord", f.get_next_record) &&
         resolve(library, "cuptiActivityGetNumDroppedRecords", f.get_dropped_records);
}

// The versions whose records begin as records.cpp reads them.
bool records_are_known(std::uint32_t version) noexcept { return (version >= 19 && version <= 99) || version / 10'000 == 13; }

bool is_given() noexcept {
  const char* path = getenv(kOverride);
  return path != nullptr && *path != '\0';
}

}  // namespace

void* open_library(int driver_major) noexcept {
  return is_given() ? dlopen(getenv(kOverride), RTLD_LAZY | RTLD_LOCAL) : open_any(driver_major);
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
  void* handle = open_library(static_cast<int>(library.driver_version / 1000));
  if (handle == nullptr || !resolve_all(handle, library.functions)) return library;
  library.functions.get_version(&library.version);
  library.result = records_are_known(library.version) ? LoadResult::kLoaded : LoadResult::kUnknownMajor;
  return library;
}

}  // namespace lanescope::agent::cupti
