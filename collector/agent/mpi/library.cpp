#include "agent/mpi/library.h"

#include <algorithm>
#include <cstring>
#include <initializer_list>
#include <string_view>

#include <dlfcn.h>

#include "agent/core/loader/stood_before.h"

namespace lanescope::agent::mpi {
namespace {

bool is_mpi(const char* name) noexcept {
  for (const std::string_view begin : {"libmpi.so", "libmpich.so", "libmpi_cray.so", "libmpi_gnu", "libmpi_abi.so"})
    if (std::string_view(name).starts_with(begin)) return true;
  return false;
}

constinit StoodBefore library{is_mpi};

Abi find_abi() noexcept {
  if (find_object("ompi_mpi_comm_world") == nullptr)
    return {false, -2, -1, -1, -3, static_cast<std::uintptr_t>(-1), 1, 2 * sizeof(int), 3 * sizeof(int), 0x4c00010d, 0x0c000000};
  return {true,
          -1,
          -2,
          -1,
          -4,
          1,
          0,
          0,
          sizeof(int),
          reinterpret_cast<Handle>(find_object("ompi_mpi_byte")),
          reinterpret_cast<Handle>(find_object("ompi_mpi_datatype_null"))};
}

}  // namespace

void* Function::find() noexcept {
  void* known = find_function(name);
  const std::size_t length = strlen(name);
  if (known == nullptr && length > 2 && strcmp(name + length - 2, "_c") == 0) {
    char small[64] = {};
    std::memcpy(small, name, std::min(length - 2, sizeof(small) - 1));
    known = find_function(small);
    takes_small_counts.store(known != nullptr, std::memory_order_relaxed);
  }
  found.store(known, std::memory_order_release);
  return known;
}

const Abi& abi() noexcept {
  static Abi found;
  static std::atomic<int> state{0};  // 0: not searched, 1: a thread searches, 2: found
  if (state.load(std::memory_order_acquire) == 2) return found;
  int expected = 0;
  if (state.compare_exchange_strong(expected, 1)) {
    found = find_abi();
    state.store(2, std::memory_order_release);
  }
  while (state.load(std::memory_order_acquire) != 2) {
  }
  return found;
}

bool has_standard_abi() noexcept {
  int major = -1;  // stays so in a library with another interface
  int minor = -1;
  void* const ask = find_function("MPI_Abi_get_version");
  return ask != nullptr && reinterpret_cast<int (*)(int*, int*)>(ask)(&major, &minor) == 0 && major > 0;
}

std::uint64_t value_at(const void* handle) noexcept {
  if (handle == nullptr) return 0;
  std::uint64_t value = 0;
  std::memcpy(&value, handle, abi().has_pointer_handles ? sizeof(void*) : sizeof(int));
  return value;
}

void* find_object(const char* name) noexcept {
  void* found = dlsym(RTLD_DEFAULT, name);
  return found != nullptr ? found : find_function(name);
}

void* find_function(const char* name) noexcept { return library.function(name); }

}  // namespace lanescope::agent::mpi
