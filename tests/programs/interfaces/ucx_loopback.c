/* Sends itself four messages of 100, 200, 300 and 400 bytes with the tags 7 to 10 by UCX, and puts 64 bytes; prints how many bytes came. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucp/api/ucp.h>

static void check(int done, const char *what) {
  if (!done) {
    fprintf(stderr, "%s failed\n", what);
    exit(1);
  }
}

static size_t received = 0;
static void came(void *request, ucs_status_t status, const ucp_tag_recv_info_t *info, void *data) {
  (void)request, (void)data;
  if (status == UCS_OK) received += info->length;
}

static void finish(ucp_worker_h worker, void *request) {
  check(!UCS_PTR_IS_ERR(request), "a request");
  if (request == NULL) return;
  while (ucp_request_check_status(request) == UCS_INPROGRESS) ucp_worker_progress(worker);
  ucp_request_free(request);
}

int main(void) {
  ucp_context_h context;
  ucp_worker_h worker;
  ucp_ep_h self;
  ucp_address_t *address;
  size_t length;
  ucp_params_t parameters = {.field_mask = UCP_PARAM_FIELD_FEATURES, .features = UCP_FEATURE_TAG | UCP_FEATURE_RMA};
  check(ucp_init(&parameters, NULL, &context) == UCS_OK, "ucp_init");
  ucp_worker_params_t single = {.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE, .thread_mode = UCS_THREAD_MODE_SINGLE};
  check(ucp_worker_create(context, &single, &worker) == UCS_OK, "ucp_worker_create");
  check(ucp_worker_get_address(worker, &address, &length) == UCS_OK, "ucp_worker_get_address");
  ucp_ep_params_t to_self = {.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS, .address = address};
  check(ucp_ep_create(worker, &to_self, &self) == UCS_OK, "ucp_ep_create");

  static char from[400], to[4][1000];
  void *receives[4];
  ucp_request_param_t receive = {.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FLAG_NO_IMM_CMPL, .cb.recv = came};
  ucp_request_param_t of_fours = {.op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE, .datatype = ucp_dt_make_contig(4)};
  ucp_dt_iov_t parts[2] = {{from, 250}, {from, 150}};
  ucp_request_param_t of_parts = {.op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE, .datatype = ucp_dt_make_iov()};
  ucp_request_param_t plain = {.op_attr_mask = 0};
  for (int i = 0; i < 4; ++i) receives[i] = ucp_tag_recv_nbx(worker, to[i], sizeof(to[i]), 7 + i, ~(ucp_tag_t)0, &receive);
  finish(worker, ucp_tag_send_nbx(self, from, 100, 7, &plain));
  finish(worker, ucp_tag_send_nbx(self, from, 50, 8, &of_fours));
  finish(worker, ucp_tag_send_nbx(self, from, 300, 9, &plain));
  finish(worker, ucp_tag_send_nbx(self, parts, 2, 10, &of_parts));
  for (int i = 0; i < 4; ++i) finish(worker, receives[i]);

  ucp_mem_map_params_t place = {.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH, .address = to, .length = sizeof(to)};
  ucp_mem_h memory;
  void *packed;
  ucp_rkey_h key;
  check(ucp_mem_map(context, &place, &memory) == UCS_OK, "ucp_mem_map");
  check(ucp_rkey_pack(context, memory, &packed, &length) == UCS_OK, "ucp_rkey_pack");
  check(ucp_ep_rkey_unpack(self, packed, &key) == UCS_OK, "ucp_ep_rkey_unpack");
  memset(from, 1, sizeof(from));
  ucs_status_t put = ucp_put_nbi(self, from, 64, (uint64_t)(uintptr_t)to, key);
  check(put == UCS_OK || put == UCS_INPROGRESS, "ucp_put_nbi");
  finish(worker, ucp_worker_flush_nbx(worker, &plain));
  check(to[0][63] == 1, "the put");

  ucp_rkey_destroy(key);
  ucp_rkey_buffer_release(packed);
  ucp_mem_unmap(context, memory);
  finish(worker, ucp_ep_close_nbx(self, &plain));
  ucp_worker_release_address(worker, address);
  ucp_worker_destroy(worker);
  ucp_cleanup(context);
  printf("%zu bytes\n", received);
  return 0;
}
