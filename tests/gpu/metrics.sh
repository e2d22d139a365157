#!/usr/bin/env bash
# GPU metrics on a real GPU: what is recorded of a memory-bound and of a tensor-core kernel, compared with ncu's values for the same kernels; how
# well the samples match the kernels in time; and what sampling at 10 kHz costs a PyTorch step.
#
#   metrics.sh FOLDER    FOLDER holds bin/lanescope, bin/lanescope-gpu-metrics and lib/liblanescope-agent.so
#
# Needs python3 with torch; uses ncu if it is installed (NCU=none leaves it out). Traces go to $OUT, or to a temporary folder.
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
if command -v "${NCU:-ncu}" >/dev/null; then
  metrics=dram__throughput.avg.pct_of_peak_sustained_elapsed,sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed,sm__cycles_active.avg.pct_of_peak_sustained_elapsed
  for what in memory tensor; do
    timeout 60 "${NCU:-ncu}" --metrics "$metrics" --launch-skip-before-match 0 --kernel-name-base demangled -k 'regex:gemm|nvjet|cutlass|elementwise' -s 3 -c 2 \
      python3 "$program" "$what" 2>&1 | grep -vE '^==PROF==' | head -40
  done
else
  echo "There is no ncu here."
fi

heading "A PyTorch step without and with sampling at 10 kHz, milliseconds, alternating"
python3 "$program" cost "$folder/bin/lanescope-gpu-metrics"
