#include "agent/mpi/wrapper.h"

#include <cstring>

namespace lanescope::agent::mpi {
namespace {

Function type_size{"PMPI_Type_size"};
Function get_elements{"PMPI_Get_elements_x"};

int int_at(const void* status, std::size_t offset) noexcept {
  int value = 0;
  std::memcpy(&value, static_cast<const unsigned char*>(status) + offset, sizeof(value));
  return value;
}

}  // namespace

std::uint64_t bytes_of(std::int64_t count, Handle type) noexcept {
  if (count <= 0 || value_of(type) == value_of(abi().null_type)) return 0;
  int size = 0;
  return call(type_size, type, &size) != 0 || size < 0 ? 0 : static_cast<std::uint64_t>(count) * static_cast<std::uint64_t>(size);
}

int rank_of(Handle communicator, int rank) noexcept {
  if (rank == abi().any_source) return kAnyRank;
  return rank < 0 ? kNoRank : world_rank(communicator, rank);
}

void Status::read(Handle communicator, int& source, int& tag, std::uint64_t& bytes) const noexcept {
  if (used_ == nullptr) return;
  const int rank = int_at(used_, abi().source_in_status);
  if (rank < 0) return;  // the message was from MPI_PROC_NULL
  source = communicator == 0 ? rank : world_rank(communicator, rank);
  tag = int_at(used_, abi().tag_in_status);
  std::int64_t count = -1;
  if (call(get_elements, used_, abi().byte_type, &count) == 0 && count >= 0) bytes = static_cast<std::uint64_t>(count);
}

}  // namespace lanescope::agent::mpi
