// Calls that every rank of a communicator makes. The byte counts are those that this rank sends and receives.
//
// Arguments that a call does not read on this rank (for example the receive buffer's type on ranks other than the root) must not be read here either.
#include "agent/mpi/wrapper.h"

using namespace lanescope::agent::mpi;

namespace {

// The two sides of a collective, as in its arguments.
struct Sides {
  const void* send;
  std::int64_t send_count;
  Handle send_type;
  const void* receive;
  std::int64_t receive_count;
  Handle receive_type;
};

void describe_plain(Facts& facts, Handle communicator) noexcept { facts.communicator = communicator; }

// True if this rank is the one to which all others send, or from which they receive.
bool is_root(const Communicator& group, int root) noexcept { return group.connects_two_groups ? root == abi().root : root == group.rank; }
bool takes_no_part(const Communicator& group, int root) noexcept { return group.connects_two_groups && root == abi().no_peer; }

Communicator describe_rooted(Facts& facts, Handle handle, int root) noexcept {
  const Communicator group = communicator(handle);
  facts.communicator = handle;
  facts.root = root == abi().root ? own_rank() : rank_of(handle, root);
  return group;
}

void describe_broadcast(Facts& facts, Handle handle, int root, std::int64_t count, Handle type) noexcept {
  const Communicator group = describe_rooted(facts, handle, root);
  if (takes_no_part(group, root)) return;
  (is_root(group, root) ? facts.bytes : facts.received_bytes) = bytes_of(count, type);
}

void describe_reduce(Facts& facts, Handle handle, int root, std::int64_t count, Handle type) noexcept {
  const Communicator group = describe_rooted(facts, handle, root);
  if (takes_no_part(group, root)) return;
  const std::uint64_t bytes = bytes_of(count, type);
  const bool receives = is_root(group, root);
  if (receives) facts.received_bytes = bytes;
  if (!receives || !group.connects_two_groups) facts.bytes = bytes;
}

void describe_all_reduce(Facts& facts, Handle handle, std::int64_t count, Handle type) noexcept {
  facts.communicator = handle;
  facts.bytes = facts.received_bytes = bytes_of(count, type);
}

template <typename Count>
std::int64_t sum(const Count* counts, int size) noexcept {
  std::int64_t total = 0;
  for (int i = 0; counts != nullptr && i < size; ++i) total += static_cast<std::int64_t>(counts[i]);
  return total;
}

// Every rank contributes a part of a vector that is reduced.
template <typename Count>
void describe_reduce_scatter(Facts& facts, Handle handle, const Count* counts, Handle type) noexcept {
  const Communicator group = communicator(handle);
  facts.communicator = handle;
  if (group.connects_two_groups || group.rank < 0) return;  // the counts are for the own group, whose size is not queried
  facts.bytes = bytes_of(sum(counts, group.size), type);
  facts.received_bytes = bytes_of(static_cast<std::int64_t>(counts[group.rank]), type);
}
void describe_reduce_scatter_block(Facts& facts, Handle handle, std::int64_t count, Handle type) noexcept {
  const Communicator group = communicator(handle);
  facts.communicator = handle;
  facts.received_bytes = bytes_of(count, type);
  if (!group.connects_two_groups) facts.bytes = facts.received_bytes * static_cast<std::uint64_t>(group.size);
}

// `received`: from all ranks together.
void describe_gather(Facts& facts, Handle handle, int root, const Sides& sides, const auto& received) noexcept {
  const Communicator group = describe_rooted(facts, handle, root);
  if (takes_no_part(group, root)) return;
  const bool receives = is_root(group, root);
  if (receives) facts.received_bytes = bytes_of(received(group), sides.receive_type);
  if (!(receives && (group.connects_two_groups || is_in_place(sides.send)))) facts.bytes = bytes_of(sides.send_count, sides.send_type);
}
void describe_scatter(Facts& facts, Handle handle, int root, const Sides& sides, const auto& sent) noexcept {
  const Communicator group = describe_rooted(facts, handle, root);
  if (takes_no_part(group, root)) return;
  const bool sends = is_root(group, root);
  if (sends) facts.bytes = bytes_of(sent(group), sides.send_type);
  if (!(sends && (group.connects_two_groups || is_in_place(sides.receive)))) facts.received_bytes = bytes_of(sides.receive_count, sides.receive_type);
}

// Every rank sends to and receives from every rank. In place, the received data is also the sent data.
void describe_all(Facts& facts, Handle handle, const Sides& sides, const auto& sent, const auto& received) noexcept {
  const Communicator group = communicator(handle);
  facts.communicator = handle;
  facts.received_bytes = bytes_of(received(group), sides.receive_type);
  if (!is_in_place(sides.send)) facts.bytes = bytes_of(sent(group), sides.send_type);
}

// The number of elements, as given in the arguments.
auto once(std::int64_t count) noexcept {
  return [count](const Communicator&) { return count; };
}
auto of_each(std::int64_t count) noexcept {
  return [count](const Communicator& group) { return count * group.size; };
}
template <typename Count>
auto of_all(const Count* counts) noexcept {
  return [counts](const Communicator& group) { return sum(counts, group.size); };
}

}  // namespace

// Defines each call twice: as one that waits, and as one that makes a request, which has the same parameters and one more.
#define LANESCOPE_MPI_UNPACKED(...) __VA_ARGS__
#define LANESCOPE_MPI_TWICE(name, iname, data, parameters, arguments, describe)                  \
  LANESCOPE_MPI(name, kCollective, data, (parameters), (arguments), describe, says_nothing_more) \
  LANESCOPE_MPI(iname, kCollective, data, (parameters, void* request), (arguments, request), describe, made_request(request))
#define LANESCOPE_MPI_COLLECTIVE(name, iname, suffix, data, parameters, arguments, describe) \
  LANESCOPE_MPI_TWICE(name##suffix, iname##suffix, data, LANESCOPE_MPI_UNPACKED parameters, LANESCOPE_MPI_UNPACKED arguments, describe)

LANESCOPE_MPI_COLLECTIVE(MPI_Barrier, MPI_Ibarrier, , kCollective, (Handle a), (a), describe_plain(facts, a))

#define LANESCOPE_MPI_COLLECTIVES(suffix, Count)                                                                                                               \
  LANESCOPE_MPI_COLLECTIVE(MPI_Bcast, MPI_Ibcast, suffix, kRootedCollective, (void* a, Count b, Handle c, int d, Handle e), (a, b, c, d, e),                   \
                           describe_broadcast(facts, e, d, b, c))                                                                                              \
  LANESCOPE_MPI_COLLECTIVE(MPI_Reduce, MPI_Ireduce, suffix, kRootedCollective, (const void* a, void* b, Count c, Handle d, Handle e, int f, Handle g),         \
                           (a, b, c, d, e, f, g), describe_reduce(facts, g, f, c, d))                                                                          \
  LANESCOPE_MPI_COLLECTIVE(MPI_Allreduce, MPI_Iallreduce, suffix, kCollective, (const void* a, void* b, Count c, Handle d, Handle e, Handle f),                \
                           (a, b, c, d, e, f), describe_all_reduce(facts, f, c, d))                                                                            \
  LANESCOPE_MPI_COLLECTIVE(MPI_Scan, MPI_Iscan, suffix, kCollective, (const void* a, void* b, Count c, Handle d, Handle e, Handle f), (a, b, c, d, e, f),      \
                           describe_all_reduce(facts, f, c, d))                                                                                                \
  LANESCOPE_MPI_COLLECTIVE(MPI_Exscan, MPI_Iexscan, suffix, kCollective, (const void* a, void* b, Count c, Handle d, Handle e, Handle f), (a, b, c, d, e, f),  \
                           describe_all_reduce(facts, f, c, d))                                                                                                \
  LANESCOPE_MPI_COLLECTIVE(MPI_Reduce_scatter_block, MPI_Ireduce_scatter_block, suffix, kCollective,                                                           \
                           (const void* a, void* b, Count c, Handle d, Handle e, Handle f), (a, b, c, d, e, f), describe_reduce_scatter_block(facts, f, c, d)) \
  LANESCOPE_MPI_COLLECTIVE(MPI_Gather, MPI_Igather, suffix, kRootedCollective,                                                                                 \
                           (const void* a, Count b, Handle c, void* d, Count e, Handle f, int g, Handle h), (a, b, c, d, e, f, g, h),                          \
                           describe_gather(facts, h, g, {a, b, c, d, 0, f}, of_each(e)))                                                                       \
  LANESCOPE_MPI_COLLECTIVE(MPI_Scatter, MPI_Iscatter, suffix, kRootedCollective,                                                                               \
                           (const void* a, Count b, Handle c, void* d, Count e, Handle f, int g, Handle h), (a, b, c, d, e, f, g, h),                          \
                           describe_scatter(facts, h, g, {a, 0, c, d, e, f}, of_each(b)))                                                                      \
  LANESCOPE_MPI_COLLECTIVE(MPI_Allgather, MPI_Iallgather, suffix, kCollective, (const void* a, Count b, Handle c, void* d, Count e, Handle f, Handle g),       \
                           (a, b, c, d, e, f, g), describe_all(facts, g, {a, b, c, d, 0, f}, once(b), of_each(e)))                                             \
  LANESCOPE_MPI_COLLECTIVE(MPI_Alltoall, MPI_Ialltoall, suffix, kCollective, (const void* a, Count b, Handle c, void* d, Count e, Handle f, Handle g),         \
                           (a, b, c, d, e, f, g), describe_all(facts, g, {a, 0, c, d, 0, f}, of_each(b), of_each(e)))

LANESCOPE_MPI_COLLECTIVES(, int)
LANESCOPE_MPI_COLLECTIVES(_c, std::int64_t)

// One count for each rank. Variants with 64-bit counts can't be passed on to a library that lacks them, so nothing stands before them.
LANESCOPE_MPI_COLLECTIVE(MPI_Reduce_scatter, MPI_Ireduce_scatter, , kCollective, (const void* a, void* b, const int* c, Handle d, Handle e, Handle f),
                         (a, b, c, d, e, f), describe_reduce_scatter(facts, f, c, d))
LANESCOPE_MPI_COLLECTIVE(MPI_Gatherv, MPI_Igatherv, , kRootedCollective,
                         (const void* a, int b, Handle c, void* d, const int* e, const int* f, Handle g, int h, Handle i), (a, b, c, d, e, f, g, h, i),
                         describe_gather(facts, i, h, {a, b, c, d, 0, g}, of_all(e)))
LANESCOPE_MPI_COLLECTIVE(MPI_Scatterv, MPI_Iscatterv, , kRootedCollective,
                         (const void* a, const int* b, const int* c, Handle d, void* e, int f, Handle g, int h, Handle i), (a, b, c, d, e, f, g, h, i),
                         describe_scatter(facts, i, h, {a, 0, d, e, f, g}, of_all(b)))
LANESCOPE_MPI_COLLECTIVE(MPI_Allgatherv, MPI_Iallgatherv, , kCollective,
                         (const void* a, int b, Handle c, void* d, const int* e, const int* f, Handle g, Handle h), (a, b, c, d, e, f, g, h),
                         describe_all(facts, h, {a, b, c, d, 0, g}, once(b), of_all(e)))
LANESCOPE_MPI_COLLECTIVE(MPI_Alltoallv, MPI_Ialltoallv, , kCollective,
                         (const void* a, const int* b, const int* c, Handle d, void* e, const int* f, const int* g, Handle h, Handle i),
                         (a, b, c, d, e, f, g, h, i), describe_all(facts, i, {a, 0, d, e, 0, h}, of_all(b), of_all(f)))
LANESCOPE_MPI_COLLECTIVE(MPI_Alltoallw, MPI_Ialltoallw, , kCollective,
                         (const void* a, const int* b, const int* c, const void* d, void* e, const int* f, const int* g, const void* h, Handle i),
                         (a, b, c, d, e, f, g, h, i), describe_plain(facts, i))
