#!/bin/bash
# Checks what recordings of the less common parts of CUDA contain, on a machine with a GPU, nvcc, PyTorch and python3. Use: breadth.sh [LANESCOPE]
# Prints a line for each check, and the number of failed checks at the end. Takes about two minutes.
here=$(dirname "$(realpath "$0")")
lanescope=$(realpath "${1:-build/dev/bin/lanescope}")
folder=$(mktemp -d); cd "$folder" || exit 1
failures=0
check() {  # check WHAT EXPECTED FOUND
  if [ "$2" = "$3" ]; then echo "PASS  $1: $3"; else echo "FAIL  $1: expected $2, found $3"; failures=$((failures + 1)); fi
}
at_least() {  # at_least WHAT MINIMUM FOUND
  if [ "${3:-0}" -ge "$2" ] 2>/dev/null; then echo "PASS  $1: $3"; else echo "FAIL  $1: expected $2 or more, found $3"; failures=$((failures + 1)); fi
}
record() {  # record NAME OPTIONS... -- PROGRAM...: makes NAME.trace and NAME.sqlite
  local name=$1; shift
  timeout 60 "$lanescope" profile -f -o "$name" "$@" > "$name.out" 2> "$name.messages"
  local code=$?
  [ $code = 0 ] || { echo "FAIL  $name: exit code $code"; tail -5 "$name.messages"; failures=$((failures + 1)); }
  grep -v "^Recording\|^Recorded\|^$" "$name.messages" | head -3 | sed "s/^/      $name: /"
  "$lanescope" export -f -t sqlite "$name.trace" -o "$name.sqlite" > /dev/null 2>> "$name.messages"
}
ask() {  # ask NAME SQL: the first value of the first row
  python3 - "$1.sqlite" "$2" <<'P'
import sqlite3, sys
try:
    row = sqlite3.connect(sys.argv[1]).execute(sys.argv[2]).fetchone()
    print("none" if row is None or row[0] is None else row[0])
except sqlite3.Error as error:
    print(str(error).replace(" ", "_"))
P
}
nvcc=$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)
"$nvcc" -O1 -std=c++17 -arch=native -Xcompiler -rdynamic,-g -cudart shared -o breadth "$here/breadth.cu" -ldl -lcuda || exit 1
program=$folder/breadth
mib=1048576

echo "--- memory usage"
record memory --cuda-memory-usage=true "$program" memory
kind() { ask memory "SELECT COUNT(*) FROM CUDA_GPU_MEMORY_USAGE_EVENTS WHERE memKind = $1 AND memoryOperationType = $2 AND bytes = $3"; }
check "cudaMalloc of 1 MiB" 8 "$(kind 2 0 $mib)"
check "cudaFree of them" 3 "$(kind 2 1 $mib)"
check "cudaMallocHost of 64 KiB" 2 "$(kind 1 0 65536)"
check "cudaMallocManaged of 512 KiB" 1 "$(kind 4 0 524288)"
check "cudaMallocAsync of 256 KiB" 5 "$(kind 2 0 262144)"
check "of these, from a pool and on a stream" 5 "$(ask memory "SELECT COUNT(*) FROM CUDA_GPU_MEMORY_USAGE_EVENTS WHERE bytes = 262144 AND memoryOperationType = 0 AND localMemoryPoolAddress IS NOT NULL AND streamId IS NOT NULL")"
check "pool in use at most (5 x 256 KiB)" $((5 * 262144)) "$(ask memory "SELECT MAX(localMemoryPoolUtilizedSize) FROM CUDA_GPU_MEMORY_USAGE_EVENTS")"
echo "      pools: $(ask memory "SELECT COUNT(*) FROM CUDA_GPU_MEMORY_POOL_EVENTS") events; releases of pool memory: $(ask memory "SELECT COUNT(*) FROM CUDA_GPU_MEMORY_USAGE_EVENTS WHERE memoryOperationType = 1 AND localMemoryPoolAddress IS NOT NULL")"
python3 - memory.sqlite <<'P'
import sqlite3, sys
for row in sqlite3.connect(sys.argv[1]).execute("SELECT memKind, memoryOperationType, bytes, COUNT(*), contextId, streamId, localMemoryPoolSize, localMemoryPoolUtilizedSize FROM CUDA_GPU_MEMORY_USAGE_EVENTS GROUP BY 1, 2, 3, 5, 6, 7, 8"):
    print("      kind %s operation %s bytes %s: %s  (context %s stream %s pool %s/%s)" % row)
P

echo "--- unified memory"
record managed --cuda-um-cpu-page-faults=true --cuda-um-gpu-page-faults=true "$program" managed
check "bytes moved to the device" $((64 * mib)) "$(ask managed "SELECT SUM(bytes) FROM CUPTI_ACTIVITY_KIND_MEMCPY WHERE copyKind = 11")"
check "bytes moved back" $((64 * mib)) "$(ask managed "SELECT SUM(bytes) FROM CUPTI_ACTIVITY_KIND_MEMCPY WHERE copyKind = 12")"
at_least "faults of the GPU" 1 "$(ask managed "SELECT SUM(numberOfPageFaults) FROM CUDA_UM_GPU_PAGE_FAULT_EVENTS")"
at_least "faults of the CPU" 1 "$(ask managed "SELECT COUNT(*) FROM CUDA_UM_CPU_PAGE_FAULT_EVENTS")"
"$lanescope" stats -q -r um_sum,um_total_sum,um_cpu_page_faults_sum managed.trace 2>&1 | sed 's/^/      /' | head -30

echo "--- CUDA events"
record events --cuda-event-trace=true "$program" events
check "recordings of the event" 20 "$(ask events "SELECT COUNT(*) FROM CUPTI_ACTIVITY_KIND_CUDA_EVENT")"
check "streams that wait for it" 20 "$(ask events "SELECT COUNT(*) FROM CUPTI_ACTIVITY_KIND_SYNCHRONIZATION WHERE syncType = 2")"
check "waits that know their recording" 20 "$(ask events "SELECT COUNT(*) FROM CUPTI_ACTIVITY_KIND_SYNCHRONIZATION s JOIN CUPTI_ACTIVITY_KIND_CUDA_EVENT e ON e.eventSyncId = s.eventSyncId WHERE s.syncType = 2 AND e.streamId != s.streamId")"
check "recordings behind the kernel before them" 20 "$(ask events "SELECT COUNT(*) FROM CUPTI_ACTIVITY_KIND_CUDA_EVENT e WHERE EXISTS (SELECT 1 FROM CUPTI_ACTIVITY_KIND_KERNEL k WHERE k.streamId = e.streamId AND k.end <= e.timestamp + 2000 AND k.end > e.timestamp - 100000)")"
check "kernels" 40 "$(ask events "SELECT COUNT(*) FROM CUPTI_ACTIVITY_KIND_KERNEL")"
named() { "$lanescope" info --json events.trace 2>/dev/null | python3 -c "import json,sys; print(sum(1 for n in json.load(sys.stdin)['cuda_names'] if (n['resource'], n['name']) == ('$1', '$2')))"; }
check "a device called 'the first'" 1 "$(named device "the first")"
check "a context called 'trunk'" 1 "$(named context trunk)"
check "an event called 'batch done'" 1 "$(named event "batch done")"

echo "--- cudaDeviceReset"
record reset "$program" reset
check "kernels" 125 "$(ask reset "SELECT COUNT(*) FROM CUPTI_ACTIVITY_KIND_KERNEL")"
check "contexts" 3 "$(ask reset "SELECT COUNT(DISTINCT contextId) FROM CUPTI_ACTIVITY_KIND_KERNEL")"

echo "--- cooperative and cluster launches"
record launches "$program" launches
# CUPTI reports launches in clusters as cooperative as well.
check "cooperative" 10 "$(ask launches "SELECT COUNT(*) FROM CUPTI_ACTIVITY_KIND_KERNEL WHERE launchType = 2 AND clusterX = 0")"
python3 - launches.sqlite <<'P'
import sqlite3, sys
for row in sqlite3.connect(sys.argv[1]).execute("SELECT s.value, launchType, clusterX, COUNT(*) FROM CUPTI_ACTIVITY_KIND_KERNEL JOIN StringIds s ON s.id = shortName GROUP BY 1, 2, 3"):
    print("      %s: launch type %s, cluster %s: %s" % row)
P
check "in clusters of 2" 10 "$(ask launches "SELECT COUNT(*) FROM CUPTI_ACTIVITY_KIND_KERNEL WHERE clusterX = 2")"
check "all kernels" 30 "$(ask launches "SELECT COUNT(*) FROM CUPTI_ACTIVITY_KIND_KERNEL")"
check "all with the call that launched them" 30 "$(ask launches "SELECT COUNT(DISTINCT k.rowid) FROM CUPTI_ACTIVITY_KIND_KERNEL k JOIN CUPTI_ACTIVITY_KIND_RUNTIME r ON r.correlationId = k.correlationId")"

echo "--- streams"
record streams "$program" streams
read -r _ highest lowest < <(grep priorities streams.out)
at_least "streams of the highest priority" 1 "$(ask streams "SELECT COUNT(*) FROM TARGET_INFO_CUDA_STREAM WHERE priority = $highest")"
check "kernels on it" 3 "$(ask streams "SELECT COUNT(*) FROM CUPTI_ACTIVITY_KIND_KERNEL k JOIN TARGET_INFO_CUDA_STREAM s ON s.streamId = k.streamId AND s.contextId = k.contextId WHERE s.priority = $highest")"
echo "      lowest priority $lowest: $(ask streams "SELECT COUNT(*) FROM TARGET_INFO_CUDA_STREAM WHERE priority = $lowest") streams"
at_least "a stream called compute" 1 "$("$lanescope" info --json streams.trace 2>/dev/null | grep -c '"name": "compute"')"
at_least "a stream called copies" 1 "$("$lanescope" info --json streams.trace 2>/dev/null | grep -c '"name": "copies"')"

echo "--- a green context, and code that is compiled at run time"
record green env CUDA_CACHE_DISABLE=1 "$program" green
check "kernels" 16 "$(ask green "SELECT COUNT(*) FROM CUPTI_ACTIVITY_KIND_KERNEL")"
check "of these, on one stream of the green context" 10 "$(ask green "SELECT MAX(n) FROM (SELECT COUNT(*) AS n FROM CUPTI_ACTIVITY_KIND_KERNEL GROUP BY contextId, streamId)")"
check "the kernel that was compiled" 1 "$(ask green "SELECT COUNT(*) FROM CUPTI_ACTIVITY_KIND_KERNEL JOIN StringIds s ON s.id = shortName WHERE s.value = 'compiled_late'")"
at_least "compilation and loading of code, as a row of its own" 1 "$("$lanescope" info --json green.trace 2>/dev/null | python3 -c 'import json,sys; print(json.load(sys.stdin)["counts"]["compilations"])')"
"$lanescope" info green.trace 2>/dev/null | grep -A4 '^Streams' | sed 's/^/      /'

echo "--- graphs"
record nodes --cuda-graph-trace=node "$program" graphs
check "kernels of nodes" 100 "$(ask nodes "SELECT COUNT(*) FROM CUPTI_ACTIVITY_KIND_KERNEL WHERE graphNodeId IS NOT NULL")"
check "nodes that they are of" 5 "$(ask nodes "SELECT COUNT(DISTINCT graphNodeId) FROM CUPTI_ACTIVITY_KIND_KERNEL")"
check "copies and sets of nodes" 40 "$(ask nodes "SELECT (SELECT COUNT(*) FROM CUPTI_ACTIVITY_KIND_MEMCPY WHERE graphNodeId IS NOT NULL) + (SELECT COUNT(*) FROM CUPTI_ACTIVITY_KIND_MEMSET WHERE graphNodeId IS NOT NULL)")"
check "launches that they are tied to" 20 "$(ask nodes "SELECT COUNT(DISTINCT r.correlationId) FROM CUPTI_ACTIVITY_KIND_KERNEL k JOIN CUPTI_ACTIVITY_KIND_RUNTIME r ON r.correlationId = k.correlationId JOIN StringIds s ON s.id = r.nameId WHERE s.value LIKE 'cudaGraphLaunch%'")"
check "kernels within the range 'replay'" 100 "$("$lanescope" stats -q -r nvtx_kern_sum -f csv nodes.trace 2>/dev/null | python3 -c 'import csv,sys; print(sum(int(r["Kern Inst"]) for r in csv.DictReader(sys.stdin) if "replay" in r["NVTX Range"]))' 2>/dev/null)"
record whole --cuda-graph-trace=graph "$program" graphs
check "launches of the graph as a whole" 20 "$(ask whole "SELECT COUNT(*) FROM CUPTI_ACTIVITY_KIND_GRAPH_TRACE")"
check "kernels besides" 0 "$(ask whole "SELECT COUNT(*) FROM CUPTI_ACTIVITY_KIND_KERNEL" | sed 's/no_such_table.*/0/')"

echo "--- deep"
record deep --preset=deep "$program" events
at_least "allocations" 0 "$(ask deep "SELECT COUNT(*) FROM CUDA_GPU_MEMORY_USAGE_EVENTS" | sed 's/no_such_table.*/0/')"
check "streams that wait for the event" 20 "$(ask deep "SELECT COUNT(*) FROM CUPTI_ACTIVITY_KIND_SYNCHRONIZATION WHERE syncType = 2")"
at_least "driver calls" 40 "$(ask deep "SELECT COUNT(*) FROM CUPTI_ACTIVITY_KIND_RUNTIME WHERE eventClass = 1")"
check "kernels" 40 "$(ask deep "SELECT COUNT(*) FROM CUPTI_ACTIVITY_KIND_KERNEL")"

if "$lanescope" profile --help 2>/dev/null | grep -q cudabacktrace; then
  echo "--- call chains"
  record waits --cudabacktrace=sync:1000000 "$program" waits
  check "chains" 10 "$("$lanescope" info --json waits.trace | python3 -c 'import json,sys; print(json.load(sys.stdin)["counts"].get("backtraces", 0))' 2>/dev/null)"
  at_least "waits of 1 ms and more with a chain" 10 "$(ask waits "SELECT COUNT(*) FROM CUPTI_ACTIVITY_KIND_RUNTIME WHERE callchainId IS NOT NULL AND callchainId > 0")"
  at_least "frames called wait_inside" 1 "$(ask waits "SELECT COUNT(*) FROM CUDA_CALLCHAINS c JOIN StringIds s ON s.id = c.symbol WHERE s.value LIKE '%wait_inside%'")"
  at_least "frames called wait_outside" 1 "$(ask waits "SELECT COUNT(*) FROM CUDA_CALLCHAINS c JOIN StringIds s ON s.id = c.symbol WHERE s.value LIKE '%wait_outside%'")"
  python3 - waits.sqlite <<'P'
import sqlite3, sys
try:
    for row in sqlite3.connect(sys.argv[1]).execute("SELECT stackDepth, s.value, m.value FROM CUDA_CALLCHAINS c JOIN StringIds s ON s.id = c.symbol JOIN StringIds m ON m.id = c.module WHERE c.id = (SELECT MIN(id) FROM CUDA_CALLCHAINS) ORDER BY 1"):
        print("      %2d %s  %s" % row)
except sqlite3.Error as error:
    print("      " + str(error))
P
fi

echo "--- a second user of CUPTI"
cat > twice.py <<'P'
import sys, torch
x = torch.ones(1 << 20, device="cuda")
torch.cuda.synchronize()
from torch.profiler import profile, ProfilerActivity
with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as p:
    for _ in range(20): x.mul_(1.0001)
    torch.cuda.synchronize()
print("profiled", sum(1 for e in p.events() if "elementwise" in e.name or "mul" in e.name.lower()), file=sys.stderr)
for _ in range(30): x.mul_(1.0001)
torch.cuda.synchronize()
P
# We are first: the program is recorded, and torch.profiler gets no GPU events.
record first python3 twice.py
check "we first: kernels" 50 "$(ask first "SELECT COUNT(*) FROM CUPTI_ACTIVITY_KIND_KERNEL k JOIN StringIds s ON s.id = k.demangledName WHERE s.value LIKE '%Mul%'")"
grep profiled first.messages | sed 's/^/      /'
# torch.profiler is first, and we attach while it runs: it keeps its events, and our user gets a message.
cat > held.py <<'P'
import sys, time, torch
from torch.profiler import profile, ProfilerActivity
x = torch.ones(1 << 20, device="cuda")
p = profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]); p.start()
open("ready", "w").close()
end = time.time() + 12
n = 0
while time.time() < end:
    x.mul_(1.0001); torch.cuda.synchronize(); n += 1; time.sleep(0.001)
p.stop()
kernels = sum(1 for e in p.events() if e.device_type == torch.autograd.DeviceType.CUDA)
print("held: all kernels profiled" if kernels >= n else f"held: {kernels} of {n}")
P
python3 held.py > held.out 2>&1 &
held=$!
for _ in $(seq 300); do [ -e ready ] && break; sleep 0.1; done
timeout 30 "$lanescope" attach $held -d 2 -f -o second > second.out 2> second.messages
at_least "torch first: we say who has CUPTI" 1 "$(grep -c "in use by" second.messages)"
grep "in use by" second.messages | head -1 | sed 's/^/      /'
wait $held
at_least "torch first: it has every kernel" 1 "$(grep -c "all kernels profiled" held.out)"
tail -2 held.out | sed 's/^/      /'

echo "$failures failed"
rm -rf "$folder"
exit $((failures != 0))
