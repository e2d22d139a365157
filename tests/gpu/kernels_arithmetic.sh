#!/bin/bash
# Checks what lanescope kernels says about arithmetic that is known by hand, about a kernel that waits for another one, and about the instruction mix compared
# with Nsight Compute's. Use: kernels_arithmetic.sh [LANESCOPE], on a machine with a GPU, nvcc and ncu. Prints a line for each check and the number of
# failures. Takes about a minute.
here=$(dirname "$(realpath "$0")")
lanescope=$(realpath "${1:-build/dev/bin/lanescope}")
out=${OUT:-}
folder=$(mktemp -d); cd "$folder" || exit 1
nvcc -O2 -std=c++17 -arch=native -lineinfo -o arithmetic "$here/kernels_arithmetic.cu" 2> nvcc.log || { cat nvcc.log; exit 1; }
"$lanescope" kernels --set roofline --save roofline.trace -- ./arithmetic > roofline.txt 2> roofline.err
"$lanescope" kernels --page raw -q -f csv -o - roofline.trace > raw.csv 2>> roofline.err
"$lanescope" kernels --set source --save source.trace -- ./arithmetic > source.txt 2> source.err
"$lanescope" stats -r opcode_count_sum -q -f csv -o - source.trace > opcodes.csv 2>> source.err
"$lanescope" analyze -r kernel_bounds:share=0 roofline.trace source.trace > lines.txt 2>&1
ncu --metrics sass__inst_executed_per_opcode --print-metric-instances details --csv --page raw ./arithmetic > ncu.csv 2> ncu.err
"$lanescope" kernels --section InstructionStats -q -f csv -o - ncu.csv > imported.csv 2> imported.err
begin=$SECONDS
timeout 60 "$lanescope" kernels --set triage --timeout 5 --save wait.trace -- ./arithmetic wait > wait.txt 2> wait.err; code=$?
echo "$code $((SECONDS - begin))" > wait.code
"$lanescope" kernels wait.trace > wait_again.txt 2>&1
./arithmetic wait > alone.txt; echo $? >> alone.txt
[ -z "$out" ] || cp -- *.csv *.txt *.err *.code ./*.trace "$out/"
PYTHONPATH=$here python3 - <<'P'
import csv, re
from ncu_values import brief
failures = 0
def check(what, holds, found=""):
    global failures
    failures += not holds
    print("PASS" if holds else "FAIL", what + ":", found)
values = {}
for row in csv.DictReader(open("raw.csv")):
    values.setdefault(brief(row["Kernel"]), {})[row["Metric"]] = float(row["Value"])
threads, rounds = 1 << 20, 512
# Instructions of threads. Each takes a pair of values.
for kernel, operation, known in [("half_fma", "hfma", rounds), ("bfloat_fma", "hfma", rounds), ("unfused", "fadd", 2 * rounds + 2), ("unfused", "fmul", 2 * rounds)]:
    of = values.get(kernel, {})
    counted = of.get(f"smsp__sass_thread_inst_executed_op_{operation}_pred_on.sum.per_cycle_elapsed", 0) * of.get("sm__cycles_elapsed.avg", of.get("gpc__cycles_elapsed.max", 0))
    check(f"{kernel} {operation}", abs(counted / (threads * known) - 1) < 0.03, f"{counted:.4g}, by hand {threads * known:.4g}")
check("peak of half precision", values.get("half_fma", {}).get("sm__sass_thread_inst_executed_op_hfma_pred_on.sum.peak_sustained", 0) > 0,
      values.get("half_fma", {}).get("sm__sass_thread_inst_executed_op_hfma_pred_on.sum.peak_sustained"))
text = open("roofline.txt").read()
check("unfused products and sums are told", "fusion: up to" in text, re.findall(r"fusion: .*", text)[:1])
check("the busiest pipe is told", "busiest pipe of a multiprocessor, FMA" in text, re.findall(r".*busiest.*", text))
check("the line of unfused operations", re.search(r"sums and products that stand alone are of kernels_arithmetic\.cu:3[3-6]", open("lines.txt").read()) is not None,
      re.findall(r"most at \S+", open("lines.txt").read()))
ours = {}
for row in csv.DictReader(open("opcodes.csv")):
    ours.setdefault(brief(row["Name"]), {})[row["Opcode"]] = int(row["Executed"])
rows = list(csv.reader(line for line in open("ncu.csv", errors="replace") if line.startswith('"')))
column = rows[0].index("sass__inst_executed_per_opcode") if rows else 0
print("ncu prints:", rows[2][column][:300] if len(rows) > 2 else rows)
imported = {}
for row in csv.DictReader(open("imported.csv")):
    if row["What"].isupper() or row["What"][0].isupper() and row["What"] not in ("Executed", "Issued") and " " not in row["What"]:
        imported.setdefault(brief(row["Kernel"]), {})[row["What"]] = int(float(row["Value"]))
for kernel in ("half_fma", "bfloat_fma", "unfused"):
    check(f"{kernel}: opcodes as ncu counts them", bool(ours.get(kernel)) and ours.get(kernel) == imported.get(kernel), f"ours {ours.get(kernel)}, ncu's as imported {imported.get(kernel)}")
error, again = open("wait.err").read(), open("wait_again.txt").read()
code, seconds = map(int, open("wait.code").read().split())
check("a kernel that waits for another is named, and its program ended", "wait_for_flag" in error and "did not come to an end within 5 s" in error, error.strip()[:300])
check("it took no longer than that and a little", code not in (0, 124) and seconds < 40, f"code {code}, {seconds} s")
check("what was measured before is kept", "unfused" in again and "Not measured: wait_for_flag" in again, again.strip()[:600])
check("alone it ends well", open("alone.txt").read().split()[-1] == "0", "")
print(f"{failures} failures")
P
