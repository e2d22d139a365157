#!/usr/bin/env bash
# GPU metrics for a user whom the driver does not lend the performance monitors: what NVML counts in their place (from Hopper on), on kernels
# whose load is known. Run as root, on a machine that keeps the monitors for administrators. Less than a minute.
#
#   metrics_unprivileged.sh LANESCOPE    Needs python3 with torch, and setpriv.
#
# Prints what --check says to both users, the recording's notes, gpu_metric_sum of both phases, and PASS or FAIL for each expectation.
set -u
lanescope=$(realpath "${1:-build/release/bin/lanescope}")
folder=$(mktemp -d); chmod 777 "$folder"; cd "$folder" || exit 1
as_nobody() { setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all --bounding-set=-all env HOME="$folder" "$@"; }
cat > phases.py <<'P'
import time, torch
def phase(name, work):
    work(); torch.cuda.synchronize()
    torch.cuda.nvtx.range_push(name)
    end = time.time() + 3
    while time.time() < end:
        for _ in range(20): work()
        torch.cuda.synchronize()
    torch.cuda.nvtx.range_pop()
    time.sleep(0.5)
source = torch.ones(1 << 29, device="cuda"); target = torch.empty_like(source)
a, b = (torch.randn(8192, 8192, device="cuda", dtype=torch.bfloat16) for _ in range(2)); c = torch.empty_like(a)
phase("memory_bound", lambda: torch.add(source, 1, out=target))
phase("tensor_cores", lambda: torch.matmul(a, b, out=c))
P
chmod 644 phases.py
grep RmProfilingAdminOnly /proc/driver/nvidia/params 2>/dev/null
echo "== root"; "$(dirname "$lanescope")/lanescope-gpu-metrics" --check
echo "== nobody"; as_nobody "$(dirname "$lanescope")/lanescope-gpu-metrics" --check
as_nobody "$lanescope" profile --sample=none --cpuctxsw=none --gpu-metrics-devices=all -f -o metrics -- python3 phases.py
"$lanescope" info metrics.trace | grep -i -A1 'GPU 0\|monitor\|NVML'
for range in memory_bound tensor_cores; do
  echo "== $range"; "$lanescope" stats -q -r gpu_metric_sum --filter-nvtx=$range metrics.trace
  "$lanescope" stats -q -f csv -r gpu_metric_sum --filter-nvtx=$range metrics.trace > $range.csv
done
python3 - <<'P'
import csv
def mean(phase, name):
    for row in csv.DictReader(open(phase + ".csv")):
        if name in row.values():
            return float(next(value for key, value in row.items() if key.lower().startswith(("avg", "mean"))))
    return float("nan")
for phase, name, low, high in (("memory_bound", "DRAM bandwidth", 70, 100), ("memory_bound", "Tensor cores active", 0, 2),
                               ("tensor_cores", "Tensor cores active", 60, 100), ("tensor_cores", "SMs active", 80, 100),
                               ("memory_bound", "Power", 100, 1000)):
    value = mean(phase, name)
    print("PASS" if low <= value <= high else "FAIL", f"{phase}: {name} {value:.1f}, expected {low} to {high}")
P
rm -rf "$folder"
