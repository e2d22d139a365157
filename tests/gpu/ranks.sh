#!/bin/bash
# Records four ranks under torchrun that share one GPU, into one file for each and into one file for all. Use: ranks.sh [LANESCOPE]
# Needs a GPU, PyTorch and python3; the ranks communicate through gloo, which does not need a GPU for each rank. Prints a line for each check, and
# the number of failures at the end. Takes about 1 minute.
lanescope=$(realpath "${1:-build/dev/bin/lanescope}")
folder=$(mktemp -d); cd "$folder" || exit 1
failures=0
check() { if [ "$2" = "$3" ]; then echo "PASS  $1: $3"; else echo "FAIL  $1: expected $2, found $3"; failures=$((failures + 1)); fi; }
cat > ranks.py <<'P'
import torch, torch.distributed as dist
dist.init_process_group("gloo")
rank = dist.get_rank()
x = torch.rand(512, 512, device="cuda")
torch.cuda.synchronize(); dist.barrier()
with torch.cuda.nvtx.range(f"rank {rank}"):
    for _ in range(100 * (rank + 1)): x.sin_()
    torch.cuda.synchronize()
total = torch.tensor([rank]); dist.all_reduce(total)
print(f"rank {rank} of {dist.get_world_size()}: sum {total.item()}", flush=True)
dist.destroy_process_group()
P
run="python3 -m torch.distributed.run --standalone --nproc-per-node 4"
kernels() {  # kernels FILE RANK: how many of torch.sin_ the rank's range launched
  "$lanescope" stats -q -r nvtx_kern_sum -f csv "$1" 2>/dev/null | grep "rank $2," | grep sin_kernel | python3 -c '
import csv, sys
print(sum(int(row[5]) for row in csv.reader(sys.stdin)))'
}

echo "--- one file for each rank: torchrun starts the recorder"
timeout 200 $run --no-python "$lanescope" profile -f -o 'rank%q{RANK}' python3 ranks.py > each.out 2> each.messages
check "exit code" 0 $?
check "what the ranks printed" 4 "$(grep -o "of 4: sum 6" each.out | wc -l)"
for rank in 0 1 2 3; do
  check "rank$rank.trace: kernels of its range" $((100 * (rank + 1))) "$(kernels rank$rank.trace $rank)"
  check "rank$rank.trace: nothing dropped" 1 "$("$lanescope" info rank$rank.trace | grep -c 'nothing dropped')"
done

echo "--- one file for all: the recorder starts torchrun"
timeout 200 "$lanescope" profile -f -o all $run ranks.py > all.out 2> all.messages
check "exit code" 0 $?
check "what the ranks printed" 4 "$(grep -o "of 4: sum 6" all.out | wc -l)"
for rank in 0 1 2 3; do check "all.trace: kernels of rank $rank" $((100 * (rank + 1))) "$(kernels all.trace $rank)"; done
check "all.trace: nothing dropped" 1 "$("$lanescope" info all.trace | grep -c 'nothing dropped')"
echo "$failures failed; files in $folder"
exit $((failures != 0))
