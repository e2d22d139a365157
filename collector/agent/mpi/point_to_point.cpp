// Messages from one rank to another.
#include "agent/mpi/wrapper.h"

using namespace lanescope::agent::mpi;

namespace {

void describe_message(Facts& facts, Handle communicator, int peer, int tag, std::int64_t count, Handle type) noexcept {
  facts.communicator = communicator;
  facts.peer = rank_of(communicator, peer);
  facts.tag = tag_of(tag);
  if (facts.peer != kNoRank) facts.bytes = bytes_of(count, type);
}

// For use after a receiving call: reads the message's properties.
auto received(Handle communicator, const Status& status) noexcept {
  return [communicator, &status](Facts& facts) {
    status.read(communicator, facts.peer, facts.tag, facts.bytes);
    return true;
  };
}

// The same for a call that returns by `flag` whether there was a message.
auto seen(Handle communicator, const int* flag, const Status& status) noexcept {
  return [communicator, flag, &status](Facts& facts) {
    if (flag == nullptr || *flag == 0) return false;
    status.read(communicator, facts.peer, facts.tag, facts.bytes);
    return true;
  };
}

auto exchanged(Handle communicator, const Status& status) noexcept {
  return [communicator, &status](Facts& facts) {
    status.read(communicator, facts.source, facts.source_tag, facts.received_bytes);
    return true;
  };
}

}  // namespace

#define LANESCOPE_MPI_SEND(name, Count)                                                                                        \
  LANESCOPE_MPI(name, kPointToPoint, kMessage, (const void* a, Count b, Handle c, int d, int e, Handle f), (a, b, c, d, e, f), \
                describe_message(facts, f, d, e, b, c), says_nothing_more)
#define LANESCOPE_MPI_ISEND(name, Count)                                                                                                   \
  LANESCOPE_MPI(name, kPointToPoint, kMessage, (const void* a, Count b, Handle c, int d, int e, Handle f, void* g), (a, b, c, d, e, f, g), \
                describe_message(facts, f, d, e, b, c), made_request(g))

#define LANESCOPE_MPI_BOTH(one, name) one(name, int) one(name##_c, std::int64_t)

LANESCOPE_MPI_BOTH(LANESCOPE_MPI_SEND, MPI_Send)
LANESCOPE_MPI_BOTH(LANESCOPE_MPI_SEND, MPI_Bsend)
LANESCOPE_MPI_BOTH(LANESCOPE_MPI_SEND, MPI_Ssend)
LANESCOPE_MPI_BOTH(LANESCOPE_MPI_SEND, MPI_Rsend)
LANESCOPE_MPI_BOTH(LANESCOPE_MPI_ISEND, MPI_Isend)
LANESCOPE_MPI_BOTH(LANESCOPE_MPI_ISEND, MPI_Ibsend)
LANESCOPE_MPI_BOTH(LANESCOPE_MPI_ISEND, MPI_Issend)
LANESCOPE_MPI_BOTH(LANESCOPE_MPI_ISEND, MPI_Irsend)
LANESCOPE_MPI_BOTH(LANESCOPE_MPI_ISEND, MPI_Irecv)
LANESCOPE_MPI_BOTH(LANESCOPE_MPI_ISEND, MPI_Send_init)
LANESCOPE_MPI_BOTH(LANESCOPE_MPI_ISEND, MPI_Bsend_init)
LANESCOPE_MPI_BOTH(LANESCOPE_MPI_ISEND, MPI_Ssend_init)
LANESCOPE_MPI_BOTH(LANESCOPE_MPI_ISEND, MPI_Rsend_init)
LANESCOPE_MPI_BOTH(LANESCOPE_MPI_ISEND, MPI_Recv_init)

// A wrapper that passes its own status instead of the caller's: LANESCOPE_MPI_STATUS(name, data, (parameters), status of the caller, (arguments), describe,
// conclude). Defined under both names, like LANESCOPE_MPI.
#define LANESCOPE_MPI_STATUS(name, data, parameters, callers, arguments, describe, conclude)                                                      \
  namespace {                                                                                                                                     \
  Entry entry_of_##name{{#name}, Kind::kPointToPoint, Data::data};                                                                                \
  Function second_##name{"P" #name};                                                                                                              \
  }                                                                                                                                               \
  LANESCOPE_MPI_STATUS_AS(lanescope_##name, #name, entry_of_##name, entry_of_##name.function, parameters, callers, arguments, describe, conclude) \
  LANESCOPE_MPI_STATUS_AS(lanescope_P##name, "P" #name, entry_of_##name, second_##name, parameters, callers, arguments, describe, conclude)
#define LANESCOPE_MPI_STATUS_AS(own, symbol, entry, function, parameters, callers, arguments, describe, conclude)         \
  extern "C" __attribute__((visibility("default"))) int own parameters __asm__(symbol);                                   \
  extern "C" int own parameters {                                                                                         \
    Status status(callers);                                                                                               \
    return record(                                                                                                        \
        entry, [&](Facts& facts) { describe; }, [&] { return call(function LANESCOPE_MPI_UNPACK arguments); }, conclude); \
  }

#define LANESCOPE_MPI_RECV(name, Count)                                                                                                    \
  LANESCOPE_MPI_STATUS(name, kMessage, (void* a, Count b, Handle c, int d, int e, Handle f, void* g), g, (a, b, c, d, e, f, status.get()), \
                       describe_message(facts, f, d, e, b, c), received(f, status))
LANESCOPE_MPI_BOTH(LANESCOPE_MPI_RECV, MPI_Recv)

#define LANESCOPE_MPI_MRECV(name, Count)                                                                                                            \
  LANESCOPE_MPI_STATUS(name, kMessage, (void* a, Count b, Handle c, void* d, void* e), e, (a, b, c, d, status.get()), facts.bytes = bytes_of(b, c), \
                       received(0, status))
LANESCOPE_MPI_BOTH(LANESCOPE_MPI_MRECV, MPI_Mrecv)

#define LANESCOPE_MPI_IMRECV(name, Count) \
  LANESCOPE_MPI(name, kPointToPoint, kMessage, (void* a, Count b, Handle c, void* d, void* e), (a, b, c, d, e), facts.bytes = bytes_of(b, c), made_request(e))
LANESCOPE_MPI_BOTH(LANESCOPE_MPI_IMRECV, MPI_Imrecv)

LANESCOPE_MPI_STATUS(MPI_Probe, kMessage, (int a, int b, Handle c, void* d), d, (a, b, c, status.get()), describe_message(facts, c, a, b, 0, 0),
                     received(c, status))
LANESCOPE_MPI_STATUS(MPI_Mprobe, kMessage, (int a, int b, Handle c, void* d, void* e), e, (a, b, c, d, status.get()), describe_message(facts, c, a, b, 0, 0),
                     received(c, status))
LANESCOPE_MPI_STATUS(MPI_Iprobe, kMessage, (int a, int b, Handle c, int* d, void* e), e, (a, b, c, d, status.get()), describe_message(facts, c, a, b, 0, 0),
                     seen(c, d, status))
LANESCOPE_MPI_STATUS(MPI_Improbe, kMessage, (int a, int b, Handle c, int* d, void* e, void* f), f, (a, b, c, d, e, status.get()),
                     describe_message(facts, c, a, b, 0, 0), seen(c, d, status))

namespace {

void describe_exchange(Facts& facts, Handle communicator, int peer, int tag, std::uint64_t bytes, int source, int source_tag,
                       std::uint64_t received_bytes) noexcept {
  facts.communicator = communicator;
  facts.peer = rank_of(communicator, peer);
  facts.tag = tag_of(tag);
  if (facts.peer != kNoRank) facts.bytes = bytes;
  facts.source = rank_of(communicator, source);
  facts.source_tag = tag_of(source_tag);
  if (facts.source != kNoRank) facts.received_bytes = received_bytes;
}

}  // namespace

#define LANESCOPE_MPI_SENDRECV(name, Count)                                                                                                               \
  LANESCOPE_MPI_STATUS(name, kExchange, (const void* a, Count b, Handle c, int d, int e, void* f, Count g, Handle h, int i, int j, Handle k, void* l), l, \
                       (a, b, c, d, e, f, g, h, i, j, k, status.get()), describe_exchange(facts, k, d, e, bytes_of(b, c), i, j, bytes_of(g, h)),          \
                       exchanged(k, status))
LANESCOPE_MPI_BOTH(LANESCOPE_MPI_SENDRECV, MPI_Sendrecv)

#define LANESCOPE_MPI_REPLACE(name, Count)                                                                              \
  LANESCOPE_MPI_STATUS(name, kExchange, (void* a, Count b, Handle c, int d, int e, int f, int g, Handle h, void* i), i, \
                       (a, b, c, d, e, f, g, h, status.get()), describe_exchange(facts, h, d, e, bytes_of(b, c), f, g, bytes_of(b, c)), exchanged(h, status))
LANESCOPE_MPI_BOTH(LANESCOPE_MPI_REPLACE, MPI_Sendrecv_replace)
