#!/usr/bin/env bash
# GPU metrics without the performance monitors: what NVML counts (from Hopper on), for a user without rights, on kernels with a known load;
# and its use while another program has the monitors. Run as root. Takes about 40 s.
#
#   metrics_nvml.sh LANESCOPE    Needs python3 with torch, and setpriv.
#
# Prints what --check says to both users, gpu_metric_sum of both phases, what the second recording says, and PASS or FAIL for each expectation.
set -u
lanescope=$(realpath "${1:-build/release/bin/lanescope}")
sampler=$(dirname "$lanescope")/lanescope-gpu-metrics
folder=$(mktemp -d); chmod 777 "$folder"; cd "$folder" || exit 1
as_nobody() { setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all --bounding-set=-all env HOME="$folder" "$@"; }
cat > phases.py <<'P'
import sys, time, torch
seconds = float(sys.argv[1])
def phase(name, work):
    work(); torch.cuda.synchronize()
    torch.cuda.nvtx.range_push(name)
    end = time.time() + seconds
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
echo "== root"; "$sampler" --check --set nvml
echo "== nobody"; as_nobody "$sampler" --check; as_nobody "$sampler" --check --set nvml
as_nobody "$lanescope" profile --sample=none --cpuctxsw=none --gpu-metrics-devices=all --gpu-metrics-set=nvml -f -o metrics -- python3 phases.py 3
"$lanescope" info metrics.trace | grep -i -A1 'GPU 0, N\|monitor\|NVML'
for range in memory_bound tensor_cores; do
  echo "== $range"; "$lanescope" stats -q -r gpu_metric_sum --filter-nvtx=$range metrics.trace | cut -c1-150
  "$lanescope" stats -q -f csv -r gpu_metric_sum --filter-nvtx=$range metrics.trace > $range.csv
done
echo "== the monitors are another program's"
mkfifo hold; "$sampler" < hold > /dev/null & holder=$!; exec 3> hold; sleep 3
"$lanescope" profile --sample=none --cpuctxsw=none --gpu-metrics-devices=all -f -o held -- python3 phases.py 1
exec 3>&-; wait $holder
"$lanescope" info held.trace | grep -i 'GPU 0, N\|monitor\|NVML'
"$lanescope" stats -q -f csv -r gpu_metric_sum held.trace > held.csv
python3 - <<'P'
import csv
def most(phase, name):  # what other programs on the GPU take is in the mean
    for row in csv.DictReader(open(phase + ".csv")):
        if row.get("Metric") == name: return float(row["P95"]), row["Source Metric"]
    return float("nan"), ""
for phase, name, low, high in (("memory_bound", "DRAM bandwidth", 80, 95), ("memory_bound", "Tensor cores active", 0, 2),
                               ("tensor_cores", "Tensor cores active", 85, 100), ("tensor_cores", "SMs active", 90, 100),
                               ("memory_bound", "Power", 100, 1000), ("held", "SMs active", 1, 100), ("held", "Power", 50, 1000)):
    value, source = most(phase, name)
    good = low <= value <= high and source.startswith("nvml.")
    print("PASS" if good else "FAIL", f"{phase}: {name} {value:.1f} ({source}), expected {low} to {high} from nvml")
P
rm -rf "$folder"
