// Requests, communicators, windows, files, and MPI's own begin and end.
#include "agent/mpi/wrapper.h"

using namespace lanescope::agent::mpi;

// ---- Requests: started, waited for, tested ---------------------------------------------------------------------------------------------

#define LANESCOPE_MPI_COMPLETION(name, parameters, arguments, describe) \
  LANESCOPE_MPI(name, kCompletion, kRequests, parameters, arguments, describe, says_nothing_more)

#define LANESCOPE_ONE_REQUEST(handle) \
  facts.request_count = 1;            \
  facts.request = value_at(handle)
#define LANESCOPE_REQUESTS(count) facts.request_count = count

LANESCOPE_MPI_COMPLETION(MPI_Start, (void* a), (a), LANESCOPE_ONE_REQUEST(a))
LANESCOPE_MPI_COMPLETION(MPI_Startall, (int a, void* b), (a, b), LANESCOPE_REQUESTS(a))
LANESCOPE_MPI_COMPLETION(MPI_Wait, (void* a, void* b), (a, b), LANESCOPE_ONE_REQUEST(a))
LANESCOPE_MPI_COMPLETION(MPI_Waitall, (int a, void* b, void* c), (a, b, c), LANESCOPE_REQUESTS(a))
LANESCOPE_MPI_COMPLETION(MPI_Waitany, (int a, void* b, int* c, void* d), (a, b, c, d), LANESCOPE_REQUESTS(a))
LANESCOPE_MPI_COMPLETION(MPI_Waitsome, (int a, void* b, int* c, int* d, void* e), (a, b, c, d, e), LANESCOPE_REQUESTS(a))
LANESCOPE_MPI_COMPLETION(MPI_Test, (void* a, int* b, void* c), (a, b, c), LANESCOPE_ONE_REQUEST(a))
LANESCOPE_MPI_COMPLETION(MPI_Testall, (int a, void* b, int* c, void* d), (a, b, c, d), LANESCOPE_REQUESTS(a))
LANESCOPE_MPI_COMPLETION(MPI_Testany, (int a, void* b, int* c, int* d, void* e), (a, b, c, d, e), LANESCOPE_REQUESTS(a))
LANESCOPE_MPI_COMPLETION(MPI_Testsome, (int a, void* b, int* c, int* d, void* e), (a, b, c, d, e), LANESCOPE_REQUESTS(a))

// ---- Begin and end ----------------------------------------------------------------------------------------------------------------------

#define LANESCOPE_MPI_OTHER(name, parameters, arguments, describe, conclude) LANESCOPE_MPI(name, kOther, kNone, parameters, arguments, describe, conclude)
#define LANESCOPE_MPI_PLAIN(name, parameters, arguments) LANESCOPE_MPI_OTHER(name, parameters, arguments, , says_nothing_more)

LANESCOPE_MPI_PLAIN(MPI_Init, (int* a, char*** b), (a, b))
LANESCOPE_MPI_PLAIN(MPI_Init_thread, (int* a, char*** b, int c, int* d), (a, b, c, d))
LANESCOPE_MPI_OTHER(MPI_Finalize, (), (), , [](Facts&) {
  forget_readiness();
  return false;
})
LANESCOPE_MPI_PLAIN(MPI_Abort, (Handle a, int b), (a, b))

// ---- Communicators: a freed handle may be reused for another one -------------------------------------------------------------------

LANESCOPE_MPI_PLAIN(MPI_Comm_create, (Handle a, Handle b, void* c), (a, b, c))
LANESCOPE_MPI_PLAIN(MPI_Comm_create_group, (Handle a, Handle b, int c, void* d), (a, b, c, d))
LANESCOPE_MPI_PLAIN(MPI_Comm_dup, (Handle a, void* b), (a, b))
LANESCOPE_MPI_PLAIN(MPI_Comm_dup_with_info, (Handle a, Handle b, void* c), (a, b, c))
LANESCOPE_MPI_PLAIN(MPI_Comm_idup, (Handle a, void* b, void* c), (a, b, c))
LANESCOPE_MPI_PLAIN(MPI_Comm_split, (Handle a, int b, int c, void* d), (a, b, c, d))
LANESCOPE_MPI_PLAIN(MPI_Comm_split_type, (Handle a, int b, int c, Handle d, void* e), (a, b, c, d, e))
LANESCOPE_MPI_PLAIN(MPI_Intercomm_create, (Handle a, int b, Handle c, int d, int e, void* f), (a, b, c, d, e, f))
LANESCOPE_MPI_PLAIN(MPI_Intercomm_merge, (Handle a, int b, void* c), (a, b, c))
LANESCOPE_MPI_PLAIN(MPI_Cart_create, (Handle a, int b, const int* c, const int* d, int e, void* f), (a, b, c, d, e, f))
LANESCOPE_MPI_OTHER(MPI_Comm_set_name, (Handle a, const char* b), (a, b), forget(value_of(a)), says_nothing_more)
LANESCOPE_MPI_OTHER(MPI_Comm_free, (void* a), (a), forget(value_at(a)), says_nothing_more)
LANESCOPE_MPI_OTHER(MPI_Comm_disconnect, (void* a), (a), forget(value_at(a)), says_nothing_more)

// ---- One-sided: ranks are those of the window's group -----------------------------------------------------------------------------------

#define LANESCOPE_MPI_WINDOW(name, parameters, arguments) LANESCOPE_MPI(name, kOneSided, kNone, parameters, arguments, , says_nothing_more)
#define LANESCOPE_MPI_TRANSFER(name, parameters, arguments, rank, amount) \
  LANESCOPE_MPI(name, kOneSided, kTransfer, parameters, arguments, facts.peer = rank; facts.bytes = amount, says_nothing_more)

using Offset = std::int64_t;  // MPI_Aint, MPI_Offset

LANESCOPE_MPI_TRANSFER(MPI_Put, (const void* a, int b, Handle c, int d, Offset e, int f, Handle g, Handle h), (a, b, c, d, e, f, g, h), d, bytes_of(b, c))
LANESCOPE_MPI_TRANSFER(MPI_Get, (void* a, int b, Handle c, int d, Offset e, int f, Handle g, Handle h), (a, b, c, d, e, f, g, h), d, bytes_of(b, c))
LANESCOPE_MPI_TRANSFER(MPI_Accumulate, (const void* a, int b, Handle c, int d, Offset e, int f, Handle g, Handle h, Handle i), (a, b, c, d, e, f, g, h, i), d,
                       bytes_of(b, c))
LANESCOPE_MPI_TRANSFER(MPI_Fetch_and_op, (const void* a, void* b, Handle c, int d, Offset e, Handle f, Handle g), (a, b, c, d, e, f, g), d, bytes_of(1, c))
LANESCOPE_MPI_TRANSFER(MPI_Compare_and_swap, (const void* a, const void* b, void* c, Handle d, int e, Offset f, Handle g), (a, b, c, d, e, f, g), e,
                       bytes_of(1, d))
LANESCOPE_MPI_WINDOW(MPI_Win_create, (void* a, Offset b, int c, Handle d, Handle e, void* f), (a, b, c, d, e, f))
LANESCOPE_MPI_WINDOW(MPI_Win_allocate, (Offset a, int b, Handle c, Handle d, void* e, void* f), (a, b, c, d, e, f))
LANESCOPE_MPI_WINDOW(MPI_Win_allocate_shared, (Offset a, int b, Handle c, Handle d, void* e, void* f), (a, b, c, d, e, f))
LANESCOPE_MPI_WINDOW(MPI_Win_free, (void* a), (a))
LANESCOPE_MPI_WINDOW(MPI_Win_fence, (int a, Handle b), (a, b))
LANESCOPE_MPI_WINDOW(MPI_Win_start, (Handle a, int b, Handle c), (a, b, c))
LANESCOPE_MPI_WINDOW(MPI_Win_complete, (Handle a), (a))
LANESCOPE_MPI_WINDOW(MPI_Win_post, (Handle a, int b, Handle c), (a, b, c))
LANESCOPE_MPI_WINDOW(MPI_Win_wait, (Handle a), (a))
LANESCOPE_MPI_WINDOW(MPI_Win_lock, (int a, int b, int c, Handle d), (a, b, c, d))
LANESCOPE_MPI_WINDOW(MPI_Win_unlock, (int a, Handle b), (a, b))
LANESCOPE_MPI_WINDOW(MPI_Win_lock_all, (int a, Handle b), (a, b))
LANESCOPE_MPI_WINDOW(MPI_Win_unlock_all, (Handle a), (a))
LANESCOPE_MPI_WINDOW(MPI_Win_flush, (int a, Handle b), (a, b))
LANESCOPE_MPI_WINDOW(MPI_Win_flush_all, (Handle a), (a))
LANESCOPE_MPI_WINDOW(MPI_Win_flush_local, (int a, Handle b), (a, b))
LANESCOPE_MPI_WINDOW(MPI_Win_flush_local_all, (Handle a), (a))

// ---- Files ------------------------------------------------------------------------------------------------------------------------------

#define LANESCOPE_MPI_FILE(name, parameters, arguments) LANESCOPE_MPI(name, kFile, kNone, parameters, arguments, , says_nothing_more)
#define LANESCOPE_MPI_ACCESS(name) \
  LANESCOPE_MPI(name, kFile, kAccess, (Handle a, void* b, int c, Handle d, void* e), (a, b, c, d, e), facts.bytes = bytes_of(c, d), says_nothing_more)
#define LANESCOPE_MPI_ACCESS_AT(name)                                                                                                            \
  LANESCOPE_MPI(name, kFile, kAccess, (Handle a, Offset b, void* c, int d, Handle e, void* f), (a, b, c, d, e, f), facts.bytes = bytes_of(d, e), \
                says_nothing_more)

LANESCOPE_MPI_FILE(MPI_File_open, (Handle a, const char* b, int c, Handle d, void* e), (a, b, c, d, e))
LANESCOPE_MPI_FILE(MPI_File_close, (void* a), (a))
LANESCOPE_MPI_FILE(MPI_File_sync, (Handle a), (a))
LANESCOPE_MPI_FILE(MPI_File_set_size, (Handle a, Offset b), (a, b))
LANESCOPE_MPI_ACCESS(MPI_File_read)
LANESCOPE_MPI_ACCESS(MPI_File_read_all)
LANESCOPE_MPI_ACCESS(MPI_File_read_shared)
LANESCOPE_MPI_ACCESS(MPI_File_read_ordered)
LANESCOPE_MPI_ACCESS(MPI_File_write)
LANESCOPE_MPI_ACCESS(MPI_File_write_all)
LANESCOPE_MPI_ACCESS(MPI_File_write_shared)
LANESCOPE_MPI_ACCESS(MPI_File_write_ordered)
LANESCOPE_MPI_ACCESS(MPI_File_iread)
LANESCOPE_MPI_ACCESS(MPI_File_iwrite)
LANESCOPE_MPI_ACCESS_AT(MPI_File_read_at)
LANESCOPE_MPI_ACCESS_AT(MPI_File_read_at_all)
LANESCOPE_MPI_ACCESS_AT(MPI_File_write_at)
LANESCOPE_MPI_ACCESS_AT(MPI_File_write_at_all)
LANESCOPE_MPI_ACCESS_AT(MPI_File_iread_at)
LANESCOPE_MPI_ACCESS_AT(MPI_File_iwrite_at)
