#include "agent/mpi/communicators.h"

#include <cstring>

#include "agent/process/lock.h"

namespace lanescope::agent::mpi {
namespace {

constexpr std::size_t kRemembered = 64;
constexpr int kCongruent = 1;  // MPI_CONGRUENT; 0 is MPI_IDENT

struct Known {
  Communicator about;
  Handle group = 0;
  bool has_group = false;
  bool is_world = false;  // its ranks are those of MPI_COMM_WORLD
};

Lock lock;
Known known[kRemembered];
std::size_t next_place = 0;
Handle world_group = 0;
bool has_world_group = false;
std::atomic<bool> ready{false};
std::atomic<int> rank_in_world{-1};

Function initialized{"PMPI_Initialized"};
Function finalized{"PMPI_Finalized"};
Function comm_size{"PMPI_Comm_size"};
Function comm_remote_size{"PMPI_Comm_remote_size"};
Function comm_rank{"PMPI_Comm_rank"};
Function comm_get_name{"PMPI_Comm_get_name"};
Function comm_test_inter{"PMPI_Comm_test_inter"};
Function comm_compare{"PMPI_Comm_compare"};
Function comm_group{"PMPI_Comm_group"};
Function comm_remote_group{"PMPI_Comm_remote_group"};
Function group_translate_ranks{"PMPI_Group_translate_ranks"};
Function group_free{"PMPI_Group_free"};

Handle world() noexcept {
  static Handle found = 0;
  if (found == 0) found = abi().has_pointer_handles ? reinterpret_cast<Handle>(find_object("ompi_mpi_comm_world")) : 0x44000000;
  return found;
}

bool is_null(std::uint64_t handle) noexcept {
  static const std::uint64_t null = abi().has_pointer_handles ? reinterpret_cast<std::uint64_t>(find_object("ompi_mpi_comm_null")) : 0x04000000;
  return handle == 0 || handle == null;
}

void release(Known& entry) noexcept {
  if (entry.has_group) call(group_free, &entry.group);
  entry = {};
}

void ask(Known& entry, Handle handle) noexcept {
  int answer = 0;
  entry.about.handle = value_of(handle);
  call(comm_test_inter, handle, &answer);
  entry.about.connects_two_groups = answer != 0;
  call(answer != 0 ? comm_remote_size : comm_size, handle, &entry.about.size);
  call(comm_rank, handle, &entry.about.rank);
  char name[8192] = {};  // larger than any MPI_MAX_OBJECT_NAME
  int length = 0;
  if (call(comm_get_name, handle, &name[0], &length) == 0) std::memcpy(entry.about.name, name, strnlen(name, sizeof(entry.about.name) - 1));
  if (entry.about.connects_two_groups) return;
  int relation = kCongruent + 1;
  entry.is_world = call(comm_compare, handle, world(), &relation) == 0 && relation <= kCongruent;
}

// Requires: the lock is held.
Known* find(Handle handle) noexcept {
  const std::uint64_t value = value_of(handle);
  if (is_null(value) || !is_ready()) return nullptr;
  for (Known& entry : known)
    if (entry.about.handle == value) return &entry;
  Known& entry = known[next_place++ % kRemembered];
  release(entry);
  ask(entry, handle);
  return &entry;
}

}  // namespace

bool is_ready() noexcept {
  if (ready.load(std::memory_order_relaxed)) return true;
  int began = 0;
  int ended = 0;
  if (call(initialized, &began) != 0 || began == 0 || call(finalized, &ended) != 0 || ended != 0) return false;
  int rank = -1;
  if (call(comm_rank, world(), &rank) == 0) rank_in_world.store(rank, std::memory_order_relaxed);
  ready.store(true, std::memory_order_relaxed);
  return true;
}

void forget_readiness() noexcept { ready.store(false, std::memory_order_relaxed); }

int own_rank() noexcept { return is_ready() ? rank_in_world.load(std::memory_order_relaxed) : -1; }

Communicator communicator(Handle handle) noexcept {
  const ScopedLock locked(lock);
  const Known* entry = find(handle);
  return entry == nullptr ? Communicator{} : entry->about;
}

int world_rank(Handle handle, int rank) noexcept {
  const ScopedLock locked(lock);
  Known* entry = find(handle);
  if (entry == nullptr || entry->is_world || rank < 0 || rank >= entry->about.size) return rank;
  if (!entry->has_group) entry->has_group = call(entry->about.connects_two_groups ? comm_remote_group : comm_group, handle, &entry->group) == 0;
  if (!has_world_group) has_world_group = call(comm_group, world(), &world_group) == 0;
  int translated = -1;
  if (!entry->has_group || !has_world_group || call(group_translate_ranks, entry->group, 1, &rank, world_group, &translated) != 0) return rank;
  return translated < 0 ? rank : translated;
}

void forget(std::uint64_t handle) noexcept {
  const ScopedLock locked(lock);
  for (Known& entry : known)
    if (handle != 0 && entry.about.handle == handle) release(entry);
}

}  // namespace lanescope::agent::mpi
