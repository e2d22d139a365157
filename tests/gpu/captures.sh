#!/bin/bash
# Checks what recordings of parts of a run promise, on a machine with a GPU and PyTorch. Use: captures.sh [LANESCOPE]
# Prints a line for each check, and the number of failed checks at the end.
lanescope=$(realpath "${1:-build/dev/bin/lanescope}")
folder=$(mktemp -d); cd "$folder" || exit 1
failures=0
check() {  # check WHAT EXPECTED FOUND
  if [ "$2" = "$3" ]; then echo "ok    $1"; else echo "FAIL  $1: expected $2, found $3"; failures=$((failures + 1)); fi
}
kernels() {  # how many kernels of this name the file holds
  "$lanescope" stats -q -r cuda_gpu_trace -f csv "$1" 2>/dev/null | grep -c "$2"
}
calls() { "$lanescope" stats -q -r cuda_api_trace -f csv "$1" 2>/dev/null | grep -c "$2"; }

# Three rounds: 50 launches outside, 20 inside cudaProfilerStart/Stop and the NVTX range "wanted", 50 outside. Nothing waits for the GPU, so
# the last launches inside still run when the range ends.
cat > rounds.py <<'P'
import torch
x = torch.ones(1 << 20, device="cuda")
torch.cuda.synchronize()
for i in range(3):
    for _ in range(50): x.add_(1)
    torch.cuda.profiler.start()
    with torch.cuda.nvtx.range("wanted"):
        for _ in range(20): x.mul_(1.0001)
    torch.cuda.profiler.stop()
    for _ in range(50): x.add_(1)
torch.cuda.synchronize()
P

"$lanescope" profile -c cudaProfilerApi --capture-range-end=repeat -o part python3 rounds.py 2> messages
for i in 1 2 3; do
  check "cudaProfilerApi, file $i: kernels inside" 20 "$(kernels part.$i.trace 'MulFunctor\|mul')"
  check "cudaProfilerApi, file $i: launches" 20 "$(calls part.$i.trace cudaLaunchKernel)"
  check "cudaProfilerApi, file $i: kernels outside" 0 "$(kernels part.$i.trace 'FunctorOnSelf_add\|add_')"
done
"$lanescope" profile -c nvtx -p wanted --capture-range-end=repeat:2 -o range python3 rounds.py 2> messages
for i in 1 2; do check "nvtx, file $i: launches" 20 "$(calls range.$i.trace cudaLaunchKernel)"; done
check "nvtx: no third file" no "$([ -e range.3.trace ] && echo yes || echo no)"

# The start of a capture must not take long: 100 captures of nothing.
cat > starts.py <<'P'
import time, torch
torch.ones(1, device="cuda"); torch.cuda.synchronize()
begin = time.perf_counter()
for _ in range(100): torch.cuda.profiler.start(); torch.cuda.profiler.stop()
print("ms for start and stop:", (time.perf_counter() - begin) * 10)
P
"$lanescope" profile -c cudaProfilerApi --capture-range-end=repeat -o starts python3 starts.py 2> messages

# Captures that follow each other at once: each must contain only the launches inside.
cat > close.py <<'P'
import torch
x = torch.ones(1 << 20, device="cuda"); torch.cuda.synchronize()
for i in range(5):
    torch.cuda.profiler.start()
    for _ in range(20): x.mul_(1.0001)
    torch.cuda.profiler.stop()
torch.cuda.synchronize()
P
"$lanescope" profile -c cudaProfilerApi --capture-range-end=repeat -o close python3 close.py 2> messages
for i in 1 2 3 4 5; do check "captures at once, file $i: kernels" 20 "$(kernels close.$i.trace 'MulFunctor\|mul')"; done

# Presets, granularity, all calls.
cat > graph.py <<'P'
import torch
x = torch.ones(1 << 16, device="cuda")
stream = torch.cuda.Stream()
with torch.cuda.stream(stream):
    for _ in range(3): x.mul_(1.0001)
torch.cuda.synchronize()
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    for _ in range(10): x.mul_(1.0001)
for _ in range(5): graph.replay()
torch.cuda.synchronize()
P
"$lanescope" profile -f -o node --cuda-graph-trace=node python3 graph.py 2> messages
check "graph nodes" 53 "$(kernels node.trace 'MulFunctor\|mul')"
"$lanescope" profile -f -o graph --cuda-graph-trace=graph python3 graph.py 2> messages
check "kernels outside of graphs" 3 "$(kernels graph.trace 'MulFunctor\|mul')"
"$lanescope" profile -f -o all --cuda-trace-all-apis python3 graph.py 2> messages
check "chatty calls with --cuda-trace-all-apis" yes "$([ "$(calls all.trace cudaStreamIsCapturing)" -gt 0 ] && echo yes || echo no)"
check "chatty calls without" 0 "$(calls node.trace cudaStreamIsCapturing)"

# A graph that is still launched when recording stops: no kernel may get the end of a later launch's, and it must be said what is left out.
cat > replays.py <<'P'
import sys, time, torch
x = torch.ones(1 << 10, device="cuda")
stream = torch.cuda.Stream()
with torch.cuda.stream(stream):
    for _ in range(3): x.mul_(1.0001)
torch.cuda.synchronize()
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    for _ in range(10): x.mul_(1.0001)
for part in range(3):
    torch.cuda.cudart().cudaProfilerStart()
    for _ in range(500): graph.replay()
    if part == 1: torch.cuda.synchronize()
    torch.cuda.cudart().cudaProfilerStop()
    for _ in range(3000): graph.replay()
print("captured", flush=True)
end = time.time() + (20 if "attached" in sys.argv else 0)
while time.time() < end: graph.replay()
P
has_long() {  # has_long FILE: whether it has a kernel of 500 us
  "$lanescope" stats -q -r cuda_gpu_kern_sum -f json "$1" 2>/dev/null |
    python3 -c 'import json, sys; print("yes" if max(r["Max (ns)"] for r in json.load(sys.stdin)) >= 500_000 else "no")' 2>/dev/null
}
"$lanescope" profile -f -t cuda -c cudaProfilerApi --capture-range-end=repeat:3 -o replays python3 replays.py > output 2> messages
for part in 1 2 3; do
  check "kernels of capture $part of replays" 4990 "$(kernels replays.$part.trace 'MulFunctor\|mul')"
  check "a kernel of 500 us in capture $part" no "$(has_long replays.$part.trace)"
done
python3 replays.py attached > output 2>&1 & runs=$!
until grep -q captured output || ! kill -0 $runs 2> /dev/null; do sleep 0.1; done
for round in 1 2; do
  "$lanescope" attach $runs -f -t cuda -d 1 -o replayed 2> messages
  check "a kernel of 500 us where it is attached to, $round" no "$(has_long replayed.trace)"
  check "of which kernels are left out it is said, $round" yes "$("$lanescope" info replayed.trace | grep -q 'CUDA graphs that were launched last.*: 10\.' && echo yes || echo no)"
done
kill $runs

# All traces at once, and an end without exit handlers.
for traced in cuda,nvtx cuda,nvtx,osrt; do
  "$lanescope" profile -f -t $traced -o os python3 -c "
import os, torch
x = torch.ones(1 << 20, device='cuda')
for _ in range(1000): x.mul_(1.0001)
os._exit(3)" 2> messages
  check "exit code with -t $traced" 3 $?
  check "kernels before os._exit with -t $traced" 1000 "$(kernels os.trace 'MulFunctor\|mul')"
done

# A recording that is killed in the middle: what is missing is counted.
"$lanescope" profile -f -t cuda -o killed python3 -c "
import os, signal, torch
x = torch.ones(1, device='cuda')
for _ in range(300000): x.mul_(1.0001)
os.kill(os.getpid(), signal.SIGKILL)" 2> messages
check "exit code after SIGKILL" 137 $?
"$lanescope" info killed.trace | grep -i dropped

echo "$failures promises not kept; files in $folder"
exit "$failures"
