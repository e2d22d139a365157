#!/bin/bash
# Checks what recordings of several GPUs contain: peer copies, and collectives of NCCL under torchrun. Use: several_gpus.sh [LANESCOPE]
# Needs a machine with two or more GPUs, nvcc, PyTorch and python3; there is one rank for each GPU. Prints a line for each check, and the
# number of failures at the end.
lanescope=$(realpath "${1:-build/dev/bin/lanescope}")
folder=$(mktemp -d); cd "$folder" || exit 1
export NCCL_NVLS_ENABLE=0  # no multicast: not every machine permits it
count=$(nvidia-smi -L | wc -l)
last=$((count - 1))
failures=0
check() { if [ "$2" = "$3" ]; then echo "PASS  $1: $3"; else echo "FAIL  $1: expected $2, found $3"; failures=$((failures + 1)); fi; }
ask() {
  python3 - "$1.sqlite" "$2" <<'P'
import sqlite3, sys
try:
    row = sqlite3.connect(sys.argv[1]).execute(sys.argv[2]).fetchone()
    print("none" if row is None or row[0] is None else row[0])
except sqlite3.Error as error:
    print(str(error).replace(" ", "_"))
P
}
to_sqlite() { "$lanescope" export -f -t sqlite "$1.trace" -o "$1.sqlite" > /dev/null; }

echo "--- peer copies"
cat > peers.cu <<'C'
#include <cuda_runtime.h>
#include <cstdio>
#define CHECK(call) if ((call) != cudaSuccess) { std::printf("%s\n", #call); return 1; }
int main() {  // 7 copies of 4 MiB from GPU 0 to GPU 1, 3 of 1 MiB back
  char *a, *b; cudaStream_t s;
  CHECK(cudaSetDevice(0)); CHECK(cudaMalloc(&a, 4 << 20)); cudaDeviceEnablePeerAccess(1, 0); CHECK(cudaStreamCreate(&s));
  CHECK(cudaSetDevice(1)); CHECK(cudaMalloc(&b, 4 << 20)); cudaDeviceEnablePeerAccess(0, 0);
  CHECK(cudaSetDevice(0));
  for (int i = 0; i < 7; ++i) CHECK(cudaMemcpyPeerAsync(b, 1, a, 0, 4 << 20, s));
  for (int i = 0; i < 3; ++i) CHECK(cudaMemcpyPeerAsync(a, 0, b, 1, 1 << 20, s));
  CHECK(cudaStreamSynchronize(s));
}
C
"$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)" -arch=native -o peers peers.cu || exit 1
timeout 60 "$lanescope" profile -f -o peers ./peers > /dev/null 2> peers.messages; to_sqlite peers
check "copies from GPU 0 to GPU 1" 7 "$(ask peers "SELECT COUNT(*) FROM CUPTI_ACTIVITY_KIND_MEMCPY WHERE copyKind = 10 AND bytes = 4194304 AND COALESCE(srcDeviceId, 0) = 0 AND dstDeviceId = 1")"
check "copies back" 3 "$(ask peers "SELECT COUNT(*) FROM CUPTI_ACTIVITY_KIND_MEMCPY WHERE copyKind = 10 AND bytes = 1048576 AND srcDeviceId = 1 AND COALESCE(dstDeviceId, 0) = 0")"
check "GPUs" $count "$(ask peers "SELECT COUNT(*) FROM TARGET_INFO_GPU")"

cat > ranks.py <<'P'
import os, torch, torch.distributed as dist
dist.init_process_group("nccl")
rank = dist.get_rank(); torch.cuda.set_device(rank)
x = torch.ones(1 << 20, device="cuda")  # 4 MiB of float
dist.all_reduce(x); torch.cuda.synchronize()  # NCCL sets itself up
for _ in range(10): dist.all_reduce(x)
dist.broadcast(x[: 1 << 18], 0)
torch.cuda.synchronize()
dist.destroy_process_group()
P
run="python3 -m torch.distributed.run --standalone --nproc-per-node $count"
inside() {  # inside NAME: all that one file is to hold of so many ranks
  local ranks=$2
  check "$1: ranges of all_reduce" $((11 * ranks)) "$(ask "$1" "SELECT COUNT(*) FROM NVTX_EVENTS WHERE text = 'ncclAllReduce'")"
  check "$1: bytes that they say" $((11 * ranks * 4194304)) "$(ask "$1" "SELECT SUM(json_extract(jsonText, '\$.\"Message size [bytes]\"')) FROM NVTX_EVENTS WHERE text = 'ncclAllReduce'")"
  check "$1: communicators that they name" "$ranks or 1" "$(ask "$1" "SELECT COUNT(DISTINCT json_extract(jsonText, '\$.\"NCCL communicator ID\"')) FROM NVTX_EVENTS WHERE text = 'ncclAllReduce'" | sed "s/^\($ranks\|1\)$/$ranks or 1/")"
  check "$1: kernels of all_reduce" $((11 * ranks)) "$(ask "$1" "SELECT COUNT(*) FROM CUPTI_ACTIVITY_KIND_KERNEL k JOIN StringIds s ON s.id = k.demangledName WHERE s.value LIKE 'ncclDevKernel_AllReduce%'")"
  ask "$1" "SELECT jsonText FROM NVTX_EVENTS WHERE text = 'ncclAllReduce' LIMIT 1" | sed 's/^/      /'
  "$lanescope" stats -q -r nccl_sum "$1.trace" 2>&1 | sed 's/^/      /' | head -12
}

echo "--- one file for each rank: torchrun starts the recorder"
timeout 150 $run --no-python "$lanescope" profile -f -o 'rank%q{RANK}' python3 ranks.py > ranks.out 2> ranks.messages || tail -5 ranks.messages
for rank in $(seq 0 $last); do to_sqlite rank$rank; inside rank$rank 1; done

echo "--- one file for all: the recorder starts torchrun"
timeout 150 "$lanescope" profile -f -o all $run ranks.py > all.out 2> all.messages || tail -5 all.messages
to_sqlite all; inside all $count
check "all: GPUs with kernels" $count "$(ask all "SELECT COUNT(DISTINCT g.uuid) FROM CUPTI_ACTIVITY_KIND_KERNEL k JOIN TARGET_INFO_CUDA_DEVICE d ON d.cudaId = k.deviceId AND d.pid = (k.globalPid >> 24) & 0xFFFFFF JOIN TARGET_INFO_GPU g ON g.id = d.gpuId")"

echo "--- a slower rank is named, with what it costs"
cat > slower.py <<'P'
import os, sys, time, torch, torch.distributed as dist
how = sys.argv[1]  # compute: rank 1 computes twice as much; late: it sleeps 15 ms in each step instead
dist.init_process_group("nccl")
rank = dist.get_rank(); torch.cuda.set_device(rank)
x = torch.ones(4096, 4096, device="cuda", dtype=torch.bfloat16); gradient = torch.ones(1 << 22, device="cuda")
x @ x; dist.all_reduce(gradient); torch.cuda.synchronize()
for step in range(20):
    with torch.cuda.nvtx.range(f"step {step}"):
        if how == "late" and rank == 1: time.sleep(0.015)
        for _ in range(40 if how == "compute" and rank == 1 else 20): x @ x
        dist.all_reduce(gradient)
        torch.cuda.synchronize()
print(f"rank {rank} is process {os.getpid()}", flush=True)
dist.destroy_process_group()
P
names() {  # names WHAT FILE...: the finding of rule imbalance that is printed
  local what=$1; shift
  "$lanescope" analyze -r imbalance "$@" > finding 2>&1; sed 's/^/      /' finding | head -24
  local pid; pid=$(grep -ho "rank 1 is process [0-9]*" "$name.out" | head -1 | grep -o "[0-9]*$")
  check "$what: rank 1 is named" 1 "$(head -12 finding | grep -c "\[$pid\].*$expected")"
}
for how in compute late; do
  expected=computed; [ $how = late ] && expected="came last"
  name=all_$how
  timeout 150 "$lanescope" profile -f -o $name $run slower.py $how > $name.out 2> $name.messages || tail -5 $name.messages
  names "$how, one file for all" $name.trace
  name=each_$how
  timeout 150 $run --no-python "$lanescope" profile -f -o "${how}%q{RANK}" python3 slower.py $how > $name.out 2> $name.messages || tail -5 $name.messages
  names "$how, one file for each" $(seq -f "$how%g.trace" 0 $last)
  check "$how: the finding names the file" 1 "$(head -12 finding | grep -c "${how}1.trace: ")"
done

echo "$failures failed; files in $folder"
exit $((failures != 0))
