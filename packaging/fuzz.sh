#!/usr/bin/env bash
# fuzz.sh HOURS [TARGET...]: feeds the readers of untrusted bytes with mutations of valid input (Clang's libFuzzer, address and undefined
# behaviour sanitizers), one target after the other, each for its share of the hours. Without a target, all are run.
#
# An input that crashes, or takes more than 10 s or 1 GiB, is kept in build/fuzz/findings/TARGET, and the script fails. Corpora grow in
# build/fuzz/corpus/TARGET, from the valid inputs of the target and tests/fuzz/corpus/TARGET. The number of inputs and the size of the
# corpus are printed for each target and added to build/fuzz/runs.txt. `fuzz.sh merge` writes the smallest corpora that cover the same code
# as these to tests/fuzz/corpus.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
cd "$root"
hours=${1:?"Use: packaging/fuzz.sh HOURS [TARGET...], or packaging/fuzz.sh merge [TARGET...]"}
shift

libfuzzer=$(command -v clang++ >/dev/null && clang++ --print-file-name=libclang_rt.fuzzer-x86_64.a || true)
if [ ! -e "$libfuzzer" ] && ! ls "$(clang++ --print-runtime-dir 2>/dev/null)"/libclang_rt.fuzzer* >/dev/null 2>&1; then
  echo "fuzz.sh: needs Clang and its libFuzzer, which install-deps.sh leaves out. Run: apt-get install clang libclang-rt-dev (Debian 12: libclang-rt-14-dev)" >&2
  exit 2
fi
cmake --preset fuzz >/dev/null
cmake --build build/fuzz --target fuzzers --parallel "$(nproc)"
targets=("$@")
[ ${#targets[@]} -gt 0 ] || mapfile -t targets < <(cd build/fuzz/bin && ls -1 fuzz_*)

# The size of the largest inputs to make. Inputs with code or a database have parts of that size.
longest() {
  case $1 in
    fuzz_nsys_sqlite | fuzz_trace_file) echo 65536 ;;
    fuzz_elf | fuzz_python_memory) echo 32768 ;;
    *) echo 8192 ;;
  esac
}

# corpus TARGET: the folder of its corpus, after the valid inputs have been put into it.
corpus() {
  local folder=build/fuzz/corpus/$1
  mkdir -p "$folder"
  LANESCOPE_FUZZ_SEEDS=$folder "build/fuzz/bin/$1"
  [ ! -d "tests/fuzz/corpus/$1" ] || cp -n "tests/fuzz/corpus/$1"/* "$folder/"
  echo "$folder"
}

if [ "$hours" = merge ]; then
  for target in "${targets[@]}"; do
    folder=$(corpus "$target")
    rm -rf "tests/fuzz/corpus/$target.new"
    mkdir -p "tests/fuzz/corpus/$target.new"
    "build/fuzz/bin/$target" -merge=1 -max_len=2048 -rss_limit_mb=2048 "tests/fuzz/corpus/$target.new" "$folder" >/dev/null 2>&1
    rm -rf "tests/fuzz/corpus/$target"
    mv "tests/fuzz/corpus/$target.new" "tests/fuzz/corpus/$target"
    du -sh "tests/fuzz/corpus/$target"
  done
  exit 0
fi

seconds=$(awk -v hours="$hours" -v count="${#targets[@]}" 'BEGIN { printf "%d", hours * 3600 / count }')
failed=0
for target in "${targets[@]}"; do
  folder=$(corpus "$target")
  findings=build/fuzz/findings/$target
  mkdir -p "$findings"
  status=0
  ASAN_OPTIONS=allocator_may_return_null=1:detect_leaks=1 "build/fuzz/bin/$target" -entropic=0 -max_total_time="$seconds" -timeout=10 -rss_limit_mb=1024 \
    -malloc_limit_mb=1024 -max_len="$(longest "$target")" -artifact_prefix="$findings/" -print_final_stats=1 "$folder" \
    >"$findings/log" 2>&1 || status=$?
  executed=$(sed -n 's/^stat::number_of_executed_units: *//p' "$findings/log" | tail -1)
  line="$(date -u +%FT%TZ) $target ${executed:-?} inputs in ${seconds} s, corpus of $(ls "$folder" | wc -l), exit status $status"
  echo "$line" | tee -a build/fuzz/runs.txt
  if [ "$status" -ne 0 ]; then
    failed=1
    tail -40 "$findings/log"
  fi
done
exit "$failed"
