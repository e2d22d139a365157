#!/bin/bash
# Memory of a program that launches kernels at full speed, and of its recorder, over a long time; and captures that end while a kernel runs for
# seconds. On a machine with a GPU and nvcc. Use: long_run.sh [SECONDS, 600] [LANESCOPE] [OPTIONS OF PROFILE...]
# Every 10 seconds it prints the resident memory that each has for itself, in MiB, and the size of the file. At the end it prints what was dropped, and
# whether memory was flat, which means that it grew by less than 5 % or 16 MiB in the second half; then the number of failed checks. 10 minutes need about 2
# GB of disk.
here=$(dirname "$(realpath "$0")")
seconds=${1:-600}; lanescope=$(realpath "${2:-build/dev/bin/lanescope}"); shift $(($# < 2 ? $# : 2))
folder=$(mktemp -d); cd "$folder" || exit 1
"$lanescope" --version || exit 1
failures=0
fail() { echo "FAIL  $*"; failures=$((failures + 1)); }
nvcc=$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)
"$nvcc" -O1 -std=c++17 -arch=native -o long_run "$here/long_run.cu" || exit 1

# Only the memory of its own, because each page of the ring that both map counts for both once it was used.
mib() { awk '/^RssAnon:/ { print int($2 / 1024) }' "/proc/$1/status" 2>/dev/null; }
child_of() { cat /proc/"$1"/task/*/children 2>/dev/null | tr ' ' '\n' | grep -m1 .; }
flat() {  # flat WHAT SAMPLES...
  what=$1; shift
  [ $# -ge 2 ] || { fail "memory of the $what was not seen twice"; return; }
  count=$#; half=$((count / 2)); first=${@:$((half + 1)):1}; last=${!#}
  limit=$((first / 20)); [ $limit -lt 16 ] && limit=16
  if [ $((last - first)) -le $limit ]; then echo "PASS  memory of the $what is flat: $first MiB half way, $last MiB at the end"
  else fail "memory of the $what grew from $first MiB half way to $last MiB"; fi
}

echo "--- $seconds seconds of launches"
"$lanescope" profile -f -o long "$@" ./long_run "$seconds" > output 2> messages &
host=$!
targets=() hosts=()
begin=$SECONDS
while kill -0 $host 2>/dev/null; do
  sleep 10 & wait $!
  target=$(child_of $host)
  [ -n "$target" ] || continue
  ours=$(mib $host); theirs=$(mib "$target")
  [ -n "$ours" ] && [ -n "$theirs" ] || continue
  hosts+=("$ours"); targets+=("$theirs")
  echo "$((SECONDS - begin)) s: program $theirs MiB, recorder $ours MiB, file $(stat -c %s long.trace | awk '{ print int($1 / 1048576) }') MiB"
done
wait $host; code=$?
cat output; tail -4 messages
[ $code = 0 ] || fail "exit code $code"
flat program "${targets[@]}"
flat recorder "${hosts[@]}"
grep -q "nothing dropped" messages && echo "PASS  nothing dropped" || { grep -q dropped messages && echo "PASS  what was dropped is counted: $(grep dropped messages | tail -1)" || fail "no word of what was dropped"; }
"$lanescope" info long.trace | head -40

echo "--- a capture that ends while a kernel runs for 12 seconds"
"$lanescope" profile -f -d 6 --kill=none -o kernel ./long_run 12 long > output 2> messages
for second in $(seq 30); do grep -q done output && break; sleep 1; done
[ "$(cat output)" = $'running\ndone: no error' ] && echo "PASS  the program ran on to its end" || fail "the program printed: $(cat output)"
"$lanescope" stats -q -r cuda_gpu_trace -f csv kernel.trace 2>/dev/null > kernels.csv
kernels=$(grep -c 'step' kernels.csv)
[ "$kernels" = 100 ] && echo "PASS  100 kernels that had ended" || fail "$kernels kernels that had ended, not 100"
# CUPTI reports a kernel when it has ended, and its launch at once.
launches=$("$lanescope" stats -q -r cuda_api_sum -f csv kernel.trace 2>/dev/null | awk -F, '/cudaLaunchKernel/ { n += $3 } END { print n + 0 }')
[ "$launches" = 101 ] && echo "PASS  the launch of the kernel that still ran" || fail "$launches launches, not 101"
tail -3 messages
echo "$failures checks failed; files in $folder"
exit $failures
