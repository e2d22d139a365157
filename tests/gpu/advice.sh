#!/bin/bash
# Checks what `lanescope analyze` finds in PyTorch programs with a known fault, and in one without, on a machine with a GPU and PyTorch.
# Use: advice.sh [LANESCOPE]. Prints the findings, a line for each check, and the number of failures. Takes about a minute.
here=$(dirname "$(realpath "$0")")
lanescope=$(realpath "${1:-build/dev/bin/lanescope}")
program=$here/../programs/gpu/torch_launches.py
folder=$(mktemp -d); cd "$folder" || exit 1
for mode in eager graph large fp32 item pageable; do
  timeout 60 "$lanescope" profile -f -o $mode python3 "$program" $mode > $mode.messages 2>&1 || tail -3 $mode.messages
  "$lanescope" analyze -q -f json -o $mode --force-overwrite $mode.trace > /dev/null 2>&1
  "$lanescope" stats -q -f json -o $mode --force-overwrite -r gpu_idle_sum $mode.trace > /dev/null 2>&1
  echo "--- $mode"; "$lanescope" analyze -f column $mode.trace | sed 's/^/      /'
done
"$lanescope" diff -q -f json -o change --force-overwrite eager.trace graph.trace > /dev/null 2>&1
python3 - <<'P'
import json
failures = 0
def check(what, holds, found):
    global failures
    failures += not holds
    print("PASS" if holds else "FAIL", what + ":", found)
def findings(mode):
    try:
        return [f for f in json.load(open(mode + "_findings.json")) if f["When"] != "once"]
    except (OSError, ValueError):
        return []
def kind(finding):
    return finding["Rule"] + ("/" + finding["Key"] if finding["Key"] else "")
first = {mode: findings(mode)[:1] for mode in ("eager", "graph", "large", "fp32", "item", "pageable")}
name = lambda mode: kind(first[mode][0]) if first[mode] else "nothing"
between = any(kind(f) == "gpu_bubbles/cpu_code" and "between launches" in f["Finding"] for f in findings("eager"))
check("eager: launches bound the GPU", name("eager") in ("staircase", "gpu_bubbles/cpu_code") and between, name("eager"))
check("eager: a CUDA graph is advised", bool(first["eager"]) and "CUDA graph" in first["eager"][0]["Advice"], name("eager"))
check("graph: nothing between launches any more", not any("between launches" in f["Finding"] for f in findings("graph")), name("graph"))
of_kernels = {"tail", "tail_wave", "low_occupancy"}  # what shapes that cuBLAS chose leave empty, and a step that took long, are no fault of the program
check("large: nothing to find in the loop", not any(f["Rule"] not in of_kernels for f in findings("large")), [kind(f) for f in findings("large")])
check("fp32: tensor cores are advised first", name("fp32") == "fp32_products" and "TF32" in first["fp32"][0]["Finding"], name("fp32"))
check("fp32: no waiting is found", not any(f["Rule"] not in of_kernels | {"fp32_products"} for f in findings("fp32")), [kind(f) for f in findings("fp32")])
waits = {"sync_storm", "gpu_bubbles/synchronize", "gpu_bubbles/copy"}  # .item() copies to pageable memory, and waits
check("item: waiting is found, behind launching, which costs more", any(kind(f) in waits for f in findings("item")[1:]), [kind(f) for f in findings("item")])
check("pageable: the copies are found first", name("pageable") in ("pageable", "gpu_bubbles/copy"), name("pageable"))
rows = json.load(open("change_diff.json"))
iteration = next(row for row in rows if row["Kind"] == "GPU idle" and row["Name"] == "GPU idle")
check("diff: as a graph, the GPU is less idle", iteration["Verdict"] == "less", f'{iteration["Change (%)"]} %')
print(failures, "failed")
raise SystemExit(failures)
P
status=$?
rm -rf "$folder"
exit $status
