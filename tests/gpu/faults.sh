#!/bin/bash
# Checks what `lanescope analyze` finds in a PyTorch training loop with one common fault after the other, on a machine with a GPU and PyTorch: a plain
# `lanescope profile python3 train.py`, without NVTX. Use: faults.sh [LANESCOPE]. Prints a line for each check, and the number of failures at the end. Takes
# three minutes. A wait in each step costs about 1 % of it here, which is below the usual threshold of gpu_bubbles.
here=$(dirname "$(realpath "$0")")
lanescope=$(realpath "${1:-build/dev/bin/lanescope}")
program=$here/../programs/gpu/training_faults.py
folder=$(mktemp -d); cd "$folder" || exit 1
failures=0
# check FAULT STEPS PATTERN WHAT [RULE]: one of the first three findings must match the pattern; with a rule, one of its first two.
check() {
  timeout 120 "$lanescope" profile -f -o "$1" python3 "$program" "$1" --steps "$2" > "$1.messages" 2>&1 || tail -3 "$1.messages"
  "$lanescope" analyze -f column ${5:+-r "$5"} "$1.trace" > "$1.answer" 2> /dev/null
  local step; step=$(sed -n "s/^$1: //p" "$1.messages")
  if awk -v most="${5:+2}" '/^[0-9]+\. /{n++} n <= (most ? most : 3)' "$1.answer" | grep -q -- "$3"; then echo "PASS $1 ($step): $4"; else
    echo "FAIL $1 ($step): $4"; failures=$((failures + 1)); sed 's/^/      /' "$1.answer" | head -24
  fi
}
check none 40 'was idle for .*([01]\.[0-9] %) in the time in which its work repeats' "the GPU is busy"
# More steps where a wait of 0.2 ms a step must outweigh what the first steps cost once.
check loss_each_step 120 'after a wait for the GPU (cudaStreamSynchronize)' "the wait is what costs" gpu_bubbles:share=0.3
check accuracy_on_host 40 'after a wait for the GPU (cudaMemcpyAsync)' "the copy to the host is what costs" gpu_bubbles:share=0.3
check synchronize_to_time 120 'after a wait for the GPU (cudaDeviceSynchronize)' "the wait is what costs" gpu_bubbles:share=0.3
check pageable_copies 40 'rule pageable' "pageable copies"
check empty_cache 40 'mostly in cudaFree' "memory is freed in each step"
check checkpoint 40 'crc32' "torch.save, which computes checksums"
check garbage_collection 8 'ran CPU code: python' "the interpreter ran..."
check garbage_collection 8 'Record with --python-sampling' "...and how to see its lines"
check busy_python_thread 8 "Python's lock (GIL)" "another thread holds Python's lock"
check new_shapes 8 'torch.backends.cudnn.benchmark' "kernels are compiled for each shape"
check full_precision 40 'rule fp32_products' "tensor cores are not used"
check scalars_to_device 40 'rule sync_storm' "many waits"
check anomaly_detection 40 'rule gpu_bubbles' "the CPU is behind"
"$lanescope" profile -f --python-sampling -o lines python3 "$program" garbage_collection --steps 8 > lines.messages 2>&1
if "$lanescope" analyze -f column lines.trace | grep -q 'ran CPU code: .*training_faults.py:[0-9]* (9[0-9] %\|ran CPU code: .*training_faults.py:[0-9]* (100 %'; then
  echo "PASS garbage_collection, Python sampled: its line is named"
else
  echo "FAIL garbage_collection, Python sampled: its line is named"; failures=$((failures + 1))
fi
echo "$failures failed"
rm -rf "$folder"
exit "$failures"
