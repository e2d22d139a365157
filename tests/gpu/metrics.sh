#!/usr/bin/env bash
# GPU metrics on a real GPU: what is recorded of a memory-bound and of a tensor-core kernel, beside what ncu says of the same kernels; how
# well the samples lie on the kernels; and what sampling at 10 kHz costs a PyTorch step.
#
#   metrics.sh FOLDER    FOLDER holds bin/lanescope, bin/lanescope-gpu-metrics and lib/liblanescope-agent.so
#
# Needs python3 with torch; ncu where there is one. Traces go to $OUT, or to a temporary folder.
set -u
folder=$(cd "${1:-.}" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
out=${OUT:-$(mktemp -d)}
export LD_LIBRARY_PATH="$folder/run${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
lanescope="$folder/bin/lanescope"
program="$here/metrics.py"

heading() { printf '\n==== %s (%s s)\n' "$1" "$SECONDS"; }

heading "What can be sampled here"
"$folder/bin/lanescope-gpu-metrics" --check
"$lanescope" status | grep -i -A1 'GPU'
grep RmProfilingAdminOnly /proc/driver/nvidia/params 2>/dev/null

heading "Recording"
"$lanescope" profile --sample=none --cpuctxsw=none --gpu-metrics-devices=all -f -o "$out/metrics" -- python3 "$program" phases || exit 1
"$lanescope" info "$out/metrics.trace" | head -60
ls -l "$out"

for range in memory_bound tensor_cores; do
  heading "gpu_metric_sum of $range"
  "$lanescope" stats -r gpu_metric_sum --filter-nvtx="$range" "$out/metrics.trace"
done

heading "Samples on kernels: 'SMs active' in pulses of kernels, by the kernels' own times"
"$lanescope" export -t sqlite -f -o "$out/metrics.sqlite" "$out/metrics.trace" && python3 "$here/metrics_alignment.py" "$out/metrics.sqlite"

heading "The same kernels in ncu"
if command -v ncu >/dev/null; then
  metrics=dram__throughput.avg.pct_of_peak_sustained_elapsed,sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed,sm__cycles_active.avg.pct_of_peak_sustained_elapsed
  for what in memory tensor; do
    timeout 60 ncu --metrics "$metrics" --launch-skip-before-match 0 --kernel-name-base demangled -k 'regex:gemm|nvjet|cutlass|elementwise' -s 3 -c 2 \
      python3 "$program" "$what" 2>&1 | grep -vE '^==PROF==' | head -40
  done
else
  echo "There is no ncu here."
fi

heading "A PyTorch step without and with sampling at 10 kHz, milliseconds, alternating"
# Nothing of ours is in the program in either case.
steps() { "$lanescope" profile -t none --sample=none --cpuctxsw=none "$@" -f -o "$out/steps" -- python3 "$program" steps 150 2>/dev/null | grep -E '^[0-9.]+$'; }
plain=() sampled=()
for _ in 1 2 3 4 5 6 7; do
  plain+=("$(steps)")
  sampled+=("$(steps --gpu-metrics-devices=all)")
done
python3 - "${plain[*]}" "${sampled[*]}" <<'PYTHON'
import statistics
import sys
for name, text in zip(("without", "with"), sys.argv[1:]):
    values = sorted(map(float, text.split()))
    print(f"{name:8} best {values[0]:.3f}  median {statistics.median(values):.3f}  all {values}")
PYTHON
"$lanescope" info "$out/steps.trace" | tail -30
