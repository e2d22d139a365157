#!/bin/bash
# Compares counters of kernels and counts of their instructions with Nsight Compute's, in one run on a machine with a GPU, nvcc and ncu: values and
# times of twelve kernels with known faults, and programs whose results must not change.
# Use: LANESCOPE_CORPUS=FOLDER kernels.sh [LANESCOPE]; FOLDER/ncu/zoo.cu has the kernels. Prints a line for each check, tables of the results,
# and the number of failures. Takes about five minutes, most of it in ncu.
here=$(dirname "$(realpath "$0")")
lanescope=$(realpath "${1:-build/dev/bin/lanescope}")
zoo=$(realpath "${LANESCOPE_CORPUS:?names the corpus}/ncu/zoo.cu")
out=${OUT:-}
folder=$(mktemp -d); cd "$folder" || exit 1
nvcc -O2 -arch=native -lineinfo -o zoo "$zoo" 2> nvcc.log || { cat nvcc.log; exit 1; }
nvcc -O2 -std=c++17 -arch=native -o programs "$here/kernels.cu" 2> nvcc.log || { cat nvcc.log; exit 1; }
timed() { # NAME COMMAND...
  local name=$1 begin; shift; begin=$(date +%s.%N)
  timeout 200 "$@" > "$name.out" 2> "$name.err"; local code=$?
  echo "$name $(awk "BEGIN{print $(date +%s.%N) - $begin}") $code" >> times
}
timed alone ./zoo; timed alone ./zoo
# Twice each, as what comes first reads its libraries from the disk.
timed triage "$lanescope" kernels --set triage --save triage.trace -- ./zoo
timed triage "$lanescope" kernels --set triage --save triage_again.trace -- ./zoo
timed full "$lanescope" kernels --set full --save full.trace -- ./zoo
timed spread "$lanescope" kernels --set triage --replay-mode spread --save spread.trace -- ./zoo 40
timed sampled "$lanescope" profile --kernels=counters -f -o sampled.trace ./zoo 40
timed recorded "$lanescope" kernels -k regex:transpose -s 1 -c 2 --set basic --save some.trace -- ./zoo
timed source "$lanescope" kernels --set source --save source.trace -- ./zoo
timed pc "$lanescope" profile --kernels=pc:period=11 -f -o pc.trace ./zoo 20
for what in saxpy graph threads coop exit; do
  timed "alone_$what" ./programs $what
  for mode in kernel spread; do timed "${what}_$mode" "$lanescope" kernels --set basic --replay-mode $mode -- ./programs $what; done
  timed "${what}_source" "$lanescope" kernels --set source -- ./programs $what
done
timed ncu_source ncu --section SourceCounters --clock-control none --cache-control none ./zoo
# Each 2^9, 2^10 and 2^11 cycles: ncu's samples are at the same moments of each launch, so its shares of short kernels depend on how often it samples.
for interval in 4 5 6; do
  timed ncu_samples_$interval ncu --section SourceCounters --warp-sampling-interval $interval --warp-sampling-buffer-size 134217728 --clock-control none --cache-control none -f -o samples_$interval ./zoo
  ncu -i samples_$interval.ncu-rep --page source --csv > ncu_samples_$interval.csv 2> ncu_samples_$interval.csv.err
done
timed ncu_application ncu --set full --replay-mode application --clock-control none --cache-control none --csv --page raw ./zoo
for round in 1 2; do timed ncu_sol ncu --section SpeedOfLight --clock-control none --cache-control none ./zoo; done
for round in full again; do timed ncu_$round ncu --set full --clock-control none --cache-control none --csv --page raw ./zoo; done
for trace in triage full spread sampled some; do
  "$lanescope" kernels --page raw -q -f csv -o - $trace.trace > $trace.csv 2> $trace.csv.err
  "$lanescope" kernels $trace.trace > $trace.txt 2>&1
done
"$lanescope" query -q -f csv -o pc.csv pc.trace 'SELECT name, reason, sum(samples) FROM pc_samples WHERE offset > 0 GROUP BY name, reason' > pc.csv.err 2>&1
"$lanescope" kernels -q -f csv -o - ncu_full.out > ncu_verdicts.csv 2> /dev/null
for set in triage full sampled; do "$lanescope" kernels -q -f csv -o - $set.trace > ${set}_verdicts.csv 2> /dev/null; done
"$lanescope" stats -r instruction_count_sum -q -f csv -o - source.trace > source.csv 2> source.csv.err
[ -z "$out" ] || cp -- *.csv *.txt *.err *.out times triage.trace full.trace spread.trace some.trace source.trace "$out/" 2> /dev/null
PYTHONPATH=$here python3 - <<'P'
import csv, collections
from ncu_values import EXACT as exact, apart, brief, is_share, of_lanescope as ours, of_ncu as ncus, outside as is_outside, stalls_of_ncu
failures = 0
def check(what, holds, found=""):
    global failures
    failures += not holds
    print("PASS" if holds else "FAIL", what + ":", found)
times, codes = collections.defaultdict(list), collections.defaultdict(list)
for line in open("times"):
    name, seconds, code = line.split()
    times[name].append(float(seconds)); codes[name].append(int(code))
reference, again, natural = ncus("ncu_full.out"), dict(ncus("ncu_again.out")), dict(ncus("ncu_application.out"))
check("ncu measured twelve kernels", len(reference) == 12, len(reference))
full = ours("full.csv")
by_name = {name: values for (_, name), values in full.items()}
check("full: twelve kernels", len(by_name) == 12, len(by_name))
wrong = [(n, m, by_name.get(n, {}).get(m), v[m]) for n, v in reference for m in exact if m in v and by_name.get(n, {}).get(m) != v[m]]
check("instruction counts are ncu's", not wrong, wrong[:4] or f"{sum(m in v for n, v in reference for m in exact)} counts")
counts = collections.defaultdict(collections.Counter)
by_counts = {"smsp__inst_executed.sum": "Executed", "memory_l2_theoretical_sectors_global": "Global Sectors", "memory_l2_theoretical_sectors_global_ideal": "Global Sectors Ideal",
             "memory_l1_wavefronts_shared": "Shared Wavefronts", "memory_l1_wavefronts_shared_ideal": "Shared Wavefronts Ideal"}
try:
    for row in csv.DictReader(open("source.csv")):
        for column in by_counts.values(): counts[brief(row["Name"])][column] += int(row[column])
except OSError: pass
wrong = [(n, m, counts[n][c], v[m]) for n, v in reference for m, c in by_counts.items() if m in v and counts[n][c] != v[m]]
check("source: instructions of twelve kernels", len(counts) == 12, len(counts))
check("source: sums of the counts at instructions are ncu's", not wrong, wrong[:4] or f"{sum(m in v for n, v in reference for m in by_counts)} sums")
shares, far, unsteady, outside, unexplained = 0, [], 0, [], []
hit_rates = []
for name, values in reference:
    for metric, theirs in values.items():
        mine = by_name.get(name, {}).get(metric)
        if mine is None or metric in exact: continue
        if "hit_rate" in metric:
            # ncu itself says 54, 103 and 88 % in three runs of a kernel that hardly uses the L2 cache.
            if values.get("lts__t_sectors.sum", 0) >= 1e6: hit_rates.append((name, metric, mine, theirs))
            continue
        if not is_share(metric): continue
        shares += 1
        second = again.get(name, {}).get(metric, theirs)
        unsteady += apart(second, theirs)
        if apart(mine, theirs): far.append((name, metric.split(".")[0], round(mine, 3), round(theirs, 3), round(second, 3)))
        if is_outside(mine, theirs, second): outside.append(name)
        alone = natural.get(name, {}).get(metric, theirs)
        if apart(mine, min(max(mine, min(theirs, second, alone)), max(theirs, second, alone))): unexplained.append((name, metric.split(".")[0], round(mine, 3), round(theirs, 3), round(second, 3), round(alone, 3)))
print(f"      {shares} shares and ratios, {len(far)} further than 2 % (0.5 below 10) from ncu's; ncu's own second run is so far from its first in {unsteady}")
print(f"      {len(outside)} lie further than that outside of what ncu's two runs span: {dict(collections.Counter(outside))}")
for line in far[:60]: print("     ", *line)
print(f"      {len(unexplained)} lie outside of what ncu's two runs span together with one in which the program is run for each pass, so that caches are as without ncu:")
for line in unexplained[:60]: print("     ", *line)
check("shares and ratios within 2 % of ncu's in nine of ten", len(far) <= shares / 10, f"{len(far)} of {shares}")
far_hits = [h for h in hit_rates if abs(h[2] - h[3]) > 2]
check("no hit rate beyond 100 %", all(0 <= h[2] <= 100 for h in hit_rates), f"{len(hit_rates)} rates")
check("hit rates of kernels with a million sectors of L2 within 2 points in nine of ten", len(far_hits) <= max(1, len(hit_rates) / 10), f"{len(far_hits)} of {len(hit_rates)} {far_hits[:6]}")
# Without the first instruction: which kernel a warp belongs to that has not issued it, continuous sampling does not say (ADR 16).
mine = collections.defaultdict(collections.Counter)
for name, reason, count in csv.reader(open("pc.csv")):
    if count.isdecimal(): mine[brief(name)][reason] += int(count)
theirs = collections.defaultdict(list)
for interval in (4, 5, 6):
    for name, reasons in stalls_of_ncu(f"ncu_samples_{interval}.csv"): theirs[name].append(reasons)
share = lambda counter, reason: 100 * counter[reason] / max(1, sum(counter.values()))
far_samples = {}
for name, runs in theirs.items():
    apart_by = {}
    for reason in set(mine[name]).union(*runs):
        value, shares_of_ncu = share(mine[name], reason), [share(run, reason) for run in runs]
        apart_by[reason] = (max(min(shares_of_ncu) - value, value - max(shares_of_ncu), 0), round(value, 1), *(round(v, 1) for v in shares_of_ncu))
    reason = max(apart_by, key=lambda r: apart_by[r][0])
    far_samples[name] = (round(apart_by[reason][0], 1), reason, *apart_by[reason][1:])
    print("      samples of", name, sum(mine[name].values()), [sum(run.values()) for run in runs], "furthest", *far_samples[name])
bad = [(n, *f) for n, f in far_samples.items() if f[0] > 3]
check("shares of what warps wait for within 3 points of ncu's samples in eleven of twelve", len(far_samples) == 12 and len(bad) <= 1, f"{len(bad)} of {len(far_samples)} {bad}")
known = {"transpose_naive": ("L2 cache", "global_access"), "transpose_shared": ("L1 cache and shared memory", "bank_conflicts"), "transpose_padded": ("DRAM bandwidth", ""),
         "saxpy": ("DRAM bandwidth", ""), "strided": ("DRAM bandwidth", "global_access"), "gemm_naive": ("L1 cache and shared memory", "global_access"),
         "divergent": ("compute", "divergence"), "atomics": ("latency", "atomics"), "spill": ("L2 cache", "local_memory"), "fp64": ("compute", "fp64"),
         "small_grid": ("small grid", "small_grid"), "low_occ": ("latency", "occupancy")}
for kind in ("triage", "full", "sampled"):
    found = {}
    try:
        for row in csv.DictReader(open(kind + "_verdicts.csv")): found.setdefault(brief(row["Kernel"]), (row["Bound by"], row["Rule"]))
    except OSError: pass
    bad = [(n, found.get(n), k) for n, k in known.items() if not found.get(n) or found[n][0] != k[0]]
    check(kind + ": what bounds each kernel", not bad, bad or "12 of 12")
    if kind == "full":
        bad = [(n, found.get(n), k) for n, k in known.items() if not found.get(n) or found[n][1] != k[1]]
        check(kind + ": the decisive cause first", not bad, bad or "12 of 12")
spread = ours("spread.csv")
triage = {name: values for (_, name), values in ours("triage.csv").items()}
per_kernel = {}
for (_, name), values in spread.items(): per_kernel.setdefault(name, set()).update(values)
lacking = [(n, sorted(set(triage[n]) - per_kernel.get(n, set()))[:3]) for n in triage if set(triage[n]) - per_kernel.get(n, set())]
far, compared = [], 0
for (number, name), values in spread.items():
    for metric, mine in values.items():
        theirs = triage.get(name, {}).get(metric)
        if theirs is None or not (".pct" in metric or ".ratio" in metric) or "hit_rate" in metric: continue
        compared += 1
        if abs(mine - theirs) > max(0.03 * abs(theirs), 1): far.append((name, metric.split(".")[0], round(mine, 2), round(theirs, 2)))
check("spread: kernels measured without running twice", len({n for _, n in spread}) == 12, len({n for _, n in spread}))
check("spread: every metric of the set, of every kernel", len(triage) == 12 and not lacking, lacking[:4] or f"{sum(map(len, triage.values()))} values")
check("spread: nineteen of twenty shares within 3 % of those of replay", compared > 100 and len(far) <= compared / 20, f"{len(far)} of {compared} further: {far[:8]}")
some = [name for (_, name) in ours("some.csv")]
check("-k -s -c choose launches", some == ["transpose_shared", "transpose_padded"], some)
for what in ("saxpy", "graph", "threads", "coop", "exit"):
    for mode in ("kernel", "spread", "source"):
        name = f"{what}_{mode}"
        text = open(name + ".out").read()
        alone = open(f"alone_{what}.out").read()
        check(f"{what}, {mode}: the program does as it does alone", codes[name] == codes[f"alone_{what}"] and text.startswith(alone), (codes[name][0], text[:60]))
first = lambda name: min(times[name]) if not any(codes[name]) else float("inf")
print("      seconds:", {n: round(first(n), 2) for n in ("alone", "triage", "full", "spread", "source", "ncu_sol", "ncu_full", "ncu_source")})
check("triage takes a quarter of ncu --section SpeedOfLight at most", first("triage") <= first("ncu_sol") / 4, f"{first('triage'):.2f} s, {first('ncu_sol'):.2f} s")
check("full takes half of ncu --set full at most", first("full") <= first("ncu_full") / 2, f"{first('full'):.2f} s, {first('ncu_full'):.2f} s")
print(failures, "failed")
raise SystemExit(failures)
P
status=$?
rm -rf "$folder"
exit $status
