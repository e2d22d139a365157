// The functions of UCX (ucp_*): each is a symbol of the same name that calls the library's function and records the call.
#include "agent/ucx/range.h"

using namespace lanescope::agent::ucx;

#define LANESCOPE_UCX_UNPACKED(...) __VA_ARGS__

// LANESCOPE_UCX(name, kind, (parameters), (arguments), facts): the function has another name for the compiler, and the library's name for the linker. `facts`
// can use the parameters, which are named by letters in their order.
#define LANESCOPE_UCX(name, kind, parameters, arguments, facts)                                      \
  namespace {                                                                                        \
  constinit Entry entry_of_##name{#name, Kind::kind};                                                \
  }                                                                                                  \
  extern "C" __attribute__((visibility("default"))) Word lanescope_##name parameters __asm__(#name); \
  extern "C" Word lanescope_##name parameters { return record(entry_of_##name, facts, LANESCOPE_UCX_UNPACKED arguments); }

// Messages, with the bytes that they send or expect to receive.
LANESCOPE_UCX(ucp_tag_send_nb, kMessage, (Word a, Word b, Word c, Word d, Word e, Word f), (a, b, c, d, e, f), tagged(bytes_of(b, c, d), e))
LANESCOPE_UCX(ucp_tag_send_nbr, kMessage, (Word a, Word b, Word c, Word d, Word e, Word f), (a, b, c, d, e, f), tagged(bytes_of(b, c, d), e))
LANESCOPE_UCX(ucp_tag_send_sync_nb, kMessage, (Word a, Word b, Word c, Word d, Word e, Word f), (a, b, c, d, e, f), tagged(bytes_of(b, c, d), e))
LANESCOPE_UCX(ucp_tag_send_nbx, kMessage, (Word a, Word b, Word c, Word d, Word e), (a, b, c, d, e), tagged(requested_bytes(b, c, e), d))
LANESCOPE_UCX(ucp_tag_send_sync_nbx, kMessage, (Word a, Word b, Word c, Word d, Word e), (a, b, c, d, e), tagged(requested_bytes(b, c, e), d))
LANESCOPE_UCX(ucp_tag_recv_nb, kMessage, (Word a, Word b, Word c, Word d, Word e, Word f, Word g), (a, b, c, d, e, f, g), tagged(bytes_of(b, c, d), e))
LANESCOPE_UCX(ucp_tag_recv_nbr, kMessage, (Word a, Word b, Word c, Word d, Word e, Word f, Word g), (a, b, c, d, e, f, g), tagged(bytes_of(b, c, d), e))
LANESCOPE_UCX(ucp_tag_recv_nbx, kMessage, (Word a, Word b, Word c, Word d, Word e, Word f), (a, b, c, d, e, f), tagged(requested_bytes(b, c, f), d))
LANESCOPE_UCX(ucp_tag_msg_recv_nb, kMessage, (Word a, Word b, Word c, Word d, Word e, Word f), (a, b, c, d, e, f), sized(bytes_of(b, c, d)))
LANESCOPE_UCX(ucp_tag_msg_recv_nbx, kMessage, (Word a, Word b, Word c, Word d, Word e), (a, b, c, d, e), sized(requested_bytes(b, c, e)))
LANESCOPE_UCX(ucp_stream_send_nb, kMessage, (Word a, Word b, Word c, Word d, Word e, Word f), (a, b, c, d, e, f), sized(bytes_of(b, c, d)))
LANESCOPE_UCX(ucp_stream_send_nbx, kMessage, (Word a, Word b, Word c, Word d), (a, b, c, d), sized(requested_bytes(b, c, d)))
LANESCOPE_UCX(ucp_stream_recv_nb, kMessage, (Word a, Word b, Word c, Word d, Word e, Word f, Word g), (a, b, c, d, e, f, g), sized(bytes_of(b, c, d)))
LANESCOPE_UCX(ucp_stream_recv_nbx, kMessage, (Word a, Word b, Word c, Word d, Word e), (a, b, c, d, e), sized(requested_bytes(b, c, e)))
LANESCOPE_UCX(ucp_am_send_nb, kMessage, (Word a, Word b, Word c, Word d, Word e, Word f, Word g), (a, b, c, d, e, f, g), sized(bytes_of(c, d, e)))
LANESCOPE_UCX(ucp_am_send_nbx, kMessage, (Word a, Word b, Word c, Word d, Word e, Word f, Word g), (a, b, c, d, e, f, g), sized(d + requested_bytes(e, f, g)))
LANESCOPE_UCX(ucp_am_recv_data_nbx, kMessage, (Word a, Word b, Word c, Word d, Word e), (a, b, c, d, e), sized(requested_bytes(c, d, e)))
LANESCOPE_UCX(ucp_am_data_release, kMessage, (Word a, Word b), (a, b), no_facts())

// Calls that read and write memory of others.
LANESCOPE_UCX(ucp_put, kMemory, (Word a, Word b, Word c, Word d, Word e), (a, b, c, d, e), sized(c))
LANESCOPE_UCX(ucp_put_nbi, kMemory, (Word a, Word b, Word c, Word d, Word e), (a, b, c, d, e), sized(c))
LANESCOPE_UCX(ucp_put_nb, kMemory, (Word a, Word b, Word c, Word d, Word e, Word f), (a, b, c, d, e, f), sized(c))
LANESCOPE_UCX(ucp_put_nbx, kMemory, (Word a, Word b, Word c, Word d, Word e, Word f), (a, b, c, d, e, f), sized(requested_bytes(b, c, f)))
LANESCOPE_UCX(ucp_get, kMemory, (Word a, Word b, Word c, Word d, Word e), (a, b, c, d, e), sized(c))
LANESCOPE_UCX(ucp_get_nbi, kMemory, (Word a, Word b, Word c, Word d, Word e), (a, b, c, d, e), sized(c))
LANESCOPE_UCX(ucp_get_nb, kMemory, (Word a, Word b, Word c, Word d, Word e, Word f), (a, b, c, d, e, f), sized(c))
LANESCOPE_UCX(ucp_get_nbx, kMemory, (Word a, Word b, Word c, Word d, Word e, Word f), (a, b, c, d, e, f), sized(requested_bytes(b, c, f)))
LANESCOPE_UCX(ucp_atomic_post, kMemory, (Word a, Word b, Word c, Word d, Word e, Word f), (a, b, c, d, e, f), sized(d))
LANESCOPE_UCX(ucp_atomic_fetch_nb, kMemory, (Word a, Word b, Word c, Word d, Word e, Word f, Word g, Word h), (a, b, c, d, e, f, g, h), sized(e))
LANESCOPE_UCX(ucp_atomic_op_nbx, kMemory, (Word a, Word b, Word c, Word d, Word e, Word f, Word g), (a, b, c, d, e, f, g), sized(requested_bytes(c, d, g)))
LANESCOPE_UCX(ucp_atomic_add32, kMemory, (Word a, Word b, Word c, Word d), (a, b, c, d), sized(4))
LANESCOPE_UCX(ucp_atomic_fadd32, kMemory, (Word a, Word b, Word c, Word d, Word e), (a, b, c, d, e), sized(4))
LANESCOPE_UCX(ucp_atomic_swap32, kMemory, (Word a, Word b, Word c, Word d, Word e), (a, b, c, d, e), sized(4))
LANESCOPE_UCX(ucp_atomic_cswap32, kMemory, (Word a, Word b, Word c, Word d, Word e, Word f), (a, b, c, d, e, f), sized(4))
LANESCOPE_UCX(ucp_atomic_add64, kMemory, (Word a, Word b, Word c, Word d), (a, b, c, d), sized(8))
LANESCOPE_UCX(ucp_atomic_fadd64, kMemory, (Word a, Word b, Word c, Word d, Word e), (a, b, c, d, e), sized(8))
LANESCOPE_UCX(ucp_atomic_swap64, kMemory, (Word a, Word b, Word c, Word d, Word e), (a, b, c, d, e), sized(8))
LANESCOPE_UCX(ucp_atomic_cswap64, kMemory, (Word a, Word b, Word c, Word d, Word e, Word f), (a, b, c, d, e, f), sized(8))

// Calls that wait or order. ucp_worker_progress and the calls that only check for progress are left out, because programs repeat them all the time.
LANESCOPE_UCX(ucp_ep_flush, kWait, (Word a), (a), no_facts())
LANESCOPE_UCX(ucp_ep_flush_nb, kWait, (Word a, Word b, Word c), (a, b, c), no_facts())
LANESCOPE_UCX(ucp_ep_flush_nbx, kWait, (Word a, Word b), (a, b), no_facts())
LANESCOPE_UCX(ucp_worker_flush, kWait, (Word a), (a), no_facts())
LANESCOPE_UCX(ucp_worker_flush_nb, kWait, (Word a, Word b, Word c), (a, b, c), no_facts())
LANESCOPE_UCX(ucp_worker_flush_nbx, kWait, (Word a, Word b), (a, b), no_facts())
LANESCOPE_UCX(ucp_worker_fence, kWait, (Word a), (a), no_facts())
LANESCOPE_UCX(ucp_worker_wait, kWait, (Word a), (a), no_facts())
LANESCOPE_UCX(ucp_worker_wait_mem, kWait, (Word a, Word b), (a, b), no_facts())
LANESCOPE_UCX(ucp_worker_arm, kWait, (Word a), (a), no_facts())
LANESCOPE_UCX(ucp_worker_signal, kWait, (Word a), (a), no_facts())
LANESCOPE_UCX(ucp_request_cancel, kWait, (Word a, Word b), (a, b), no_facts())

// Calls that set up and tear down.
LANESCOPE_UCX(ucp_init_version, kOther, (Word a, Word b, Word c, Word d, Word e), (a, b, c, d, e), no_facts())
LANESCOPE_UCX(ucp_cleanup, kOther, (Word a), (a), no_facts())
LANESCOPE_UCX(ucp_config_read, kOther, (Word a, Word b, Word c), (a, b, c), no_facts())
LANESCOPE_UCX(ucp_config_modify, kOther, (Word a, Word b, Word c), (a, b, c), no_facts())
LANESCOPE_UCX(ucp_config_release, kOther, (Word a), (a), no_facts())
LANESCOPE_UCX(ucp_worker_create, kOther, (Word a, Word b, Word c), (a, b, c), no_facts())
LANESCOPE_UCX(ucp_worker_destroy, kOther, (Word a), (a), no_facts())
LANESCOPE_UCX(ucp_worker_get_address, kOther, (Word a, Word b, Word c), (a, b, c), no_facts())
LANESCOPE_UCX(ucp_worker_get_efd, kOther, (Word a, Word b), (a, b), no_facts())
LANESCOPE_UCX(ucp_worker_set_am_handler, kOther, (Word a, Word b, Word c, Word d, Word e), (a, b, c, d, e), no_facts())
LANESCOPE_UCX(ucp_worker_set_am_recv_handler, kOther, (Word a, Word b), (a, b), no_facts())
LANESCOPE_UCX(ucp_listener_create, kOther, (Word a, Word b, Word c), (a, b, c), no_facts())
LANESCOPE_UCX(ucp_listener_destroy, kOther, (Word a), (a), no_facts())
LANESCOPE_UCX(ucp_listener_query, kOther, (Word a, Word b), (a, b), no_facts())
LANESCOPE_UCX(ucp_listener_reject, kOther, (Word a, Word b), (a, b), no_facts())
LANESCOPE_UCX(ucp_ep_create, kOther, (Word a, Word b, Word c), (a, b, c), no_facts())
LANESCOPE_UCX(ucp_ep_modify_nb, kOther, (Word a, Word b), (a, b), no_facts())
LANESCOPE_UCX(ucp_ep_close_nb, kOther, (Word a, Word b), (a, b), no_facts())
LANESCOPE_UCX(ucp_ep_close_nbx, kOther, (Word a, Word b), (a, b), no_facts())
LANESCOPE_UCX(ucp_ep_destroy, kOther, (Word a), (a), no_facts())
LANESCOPE_UCX(ucp_disconnect_nb, kOther, (Word a), (a), no_facts())
LANESCOPE_UCX(ucp_mem_map, kOther, (Word a, Word b, Word c), (a, b, c), no_facts())
LANESCOPE_UCX(ucp_mem_unmap, kOther, (Word a, Word b), (a, b), no_facts())
LANESCOPE_UCX(ucp_mem_advise, kOther, (Word a, Word b, Word c), (a, b, c), no_facts())
LANESCOPE_UCX(ucp_mem_query, kOther, (Word a, Word b), (a, b), no_facts())
LANESCOPE_UCX(ucp_rkey_pack, kOther, (Word a, Word b, Word c, Word d), (a, b, c, d), no_facts())
LANESCOPE_UCX(ucp_rkey_buffer_release, kOther, (Word a), (a), no_facts())
LANESCOPE_UCX(ucp_ep_rkey_unpack, kOther, (Word a, Word b, Word c), (a, b, c), no_facts())
LANESCOPE_UCX(ucp_rkey_ptr, kOther, (Word a, Word b, Word c), (a, b, c), no_facts())
LANESCOPE_UCX(ucp_rkey_destroy, kOther, (Word a), (a), no_facts())
LANESCOPE_UCX(ucp_dt_create_generic, kOther, (Word a, Word b, Word c), (a, b, c), no_facts())
LANESCOPE_UCX(ucp_dt_destroy, kOther, (Word a), (a), no_facts())
