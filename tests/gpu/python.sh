#!/bin/bash
# Checks Python functions in the backtraces of CUDA calls, on a machine with a GPU and a python3 of 3.9 to 3.15. Use: python.sh [LANESCOPE [PYTHON]]
# Prints a line for each check, and the number of failed checks at the end. Takes some seconds.
here=$(dirname "$(realpath "$0")")
lanescope=$(realpath "${1:-build/dev/bin/lanescope}")
python=$(realpath -s "$(command -v "${2:-python3}")")
folder=$(mktemp -d); cd "$folder" || exit 1
timeout 60 "$lanescope" profile -f -o waits -t cuda --python-backtrace=cuda --cudabacktrace=memory:1000 "$python" "$here/python_waits.py" 2>&1 |
  sed 's/^/      /'
"$lanescope" export -f -t sqlite waits.trace -o waits.sqlite > /dev/null || exit 1
python3 - <<'P'
import collections, sqlite3
database = sqlite3.connect("waits.sqlite")
strings = dict(database.execute("SELECT id, value FROM StringIds"))
chains = collections.defaultdict(list)
for chain, symbol in database.execute("SELECT id, symbol FROM CUDA_CALLCHAINS ORDER BY id, stackDepth"):
    chains[chain].append(strings[symbol])
calls = [(end - start, chains.get(chain, [])) for start, end, chain, name in
         database.execute("SELECT start, end, callchainId, nameId FROM CUPTI_ACTIVITY_KIND_RUNTIME") if "cuMemcpyDtoH" in strings[name]]
slow = [chain for duration, chain in calls if duration >= 2_000_000]
quick = [chain for duration, chain in calls if duration < 1_000_000]
named = [chain for chain in quick if "quick_copies" in chain or "slow_copy" in chain]
failures = 0
def check(what, holds, found):
    global failures
    failures += not holds
    print("PASS" if holds else "FAIL", what + ":", found)
check("copies of 2 ms and more", len(slow) == 10, len(slow))
check("of these, in slow_copy called by main", sum(chain[-40:].count("slow_copy") == 1 and "main" in chain[chain.index("slow_copy"):] for chain in slow) >= 9,
      sum("slow_copy" in chain for chain in slow))
check("quick copies that are said to be in slow_copy", not any("slow_copy" in chain for chain in quick), sum("slow_copy" in chain for chain in quick))
print("      quick copies with their Python function:", len(named), "of", len(quick))
if slow:
    print("      one of them:")
    for function in slow[-1]:
        print("       ", function)
print(failures, "failed")
raise SystemExit(failures)
P
