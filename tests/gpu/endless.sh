#!/bin/bash
# Whether training ends when it is recorded: ResNet-18 with 8 loader workers, alone and under each trace kind, each run with a time limit.
# Needs a GPU, PyTorch and torchvision; the command line is $LANESCOPE, else that of build/dev.
#
#   endless.sh [RUNS [LIMIT [KINDS...]]]     50 runs of each kind, LIMIT seconds each (default: 10 times the run alone, at least 60)
#
# KINDS are values of --trace, and "samples", with which Python's stacks, samples and thread states are recorded as well. Prints a line for each
# kind: how many of its runs ended in time with the exit code and the output of the program alone, and how long they took. Of a run that does
# not end it prints what its threads wait for. The exit status is 0 where all ended.
here=$(dirname "$(realpath "$0")")
lanescope=$(realpath "${LANESCOPE:-$here/../../build/dev/bin/lanescope}")
program=$here/../programs/torch_resnet.py
python=${PYTHON:-python3}
runs=${1:-50}
limit=${2:-0}
shift $(($# < 2 ? $# : 2))
kinds=("$@")
[ $# -gt 0 ] || kinds=(cuda,nvtx,osrt,cudnn,cublas cuda nvtx osrt cudnn cublas python-gil samples)
code=7
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1

descendants() { local child; for child in $(cat /proc/"$1"/task/*/children 2>/dev/null); do echo "$child"; descendants "$child"; done; }
show_waiting() {
  local process thread
  for process in $1 $(descendants "$1"); do
    echo "    process $process: $(tr '\0' ' ' < /proc/"$process"/cmdline 2>/dev/null | cut -c1-120)"
    for thread in /proc/"$process"/task/*; do
      echo "      $(cat "$thread/comm" 2>/dev/null): $(cat "$thread/wchan" 2>/dev/null) $(cat "$thread/syscall" 2>/dev/null | cut -c1-60)"
    done | sort | uniq -c | sort -rn | head -12
  done
}

# run NAME COMMAND...: sets `ended` (its exit code, or "no") and `seconds`.
run() {
  local begin end pid
  begin=$(date +%s%N)
  setsid "${@:2}" > "$1.output" 2> "$1.messages" &
  pid=$!
  end=$(($(date +%s) + limit))
  while kill -0 $pid 2>/dev/null && [ "$(date +%s)" -lt $end ]; do sleep 0.2; done
  if kill -0 $pid 2>/dev/null; then
    ended=no
    show_waiting $pid
    kill -KILL -- $(descendants $pid) -$pid 2>/dev/null
    wait $pid 2>/dev/null
  else
    wait $pid; ended=$?
  fi
  seconds=$((($(date +%s%N) - begin) / 100000000))
}

[ "$limit" -gt 0 ] || { limit=600; unset_limit=1; }
run warm "$python" "$program" --exit $code
run alone "$python" "$program" --exit $code
[ "$ended" = $code ] || { echo "endless: the program alone ended with $ended:"; tail -5 alone.messages; exit 2; }
expected=$(cat alone.output)
echo "alone: exit code $ended, \"$expected\", $((seconds / 10)).$((seconds % 10)) s"
[ -z "$unset_limit" ] || limit=$((seconds > 60 ? seconds : 60))

failures=0
for kind in "${kinds[@]}"; do
  options=(-t "$kind" -s none --cpuctxsw none)
  [ "$kind" != samples ] || options=(-t cuda,nvtx,osrt -s process-tree --cpuctxsw process-tree --python-sampling=true)
  as_alone=0 total=0 longest=0
  for ((i = 0; i < runs; ++i)); do
    run recorded "$lanescope" profile "${options[@]}" -f -o "$folder/x" "$python" "$program" --exit $code
    if [ "$ended" = $code ] && grep -qxF "$expected" recorded.output; then
      as_alone=$((as_alone + 1))
    else
      echo "    $kind, run $i: exit code $ended, output \"$(grep -m1 steps recorded.output)\""
      tail -3 recorded.messages | sed 's/^/    /'
      failures=$((failures + 1))
    fi
    total=$((total + seconds)); longest=$((seconds > longest ? seconds : longest))
  done
  echo "$kind: $as_alone of $runs ended as alone; $((total / runs / 10)).$((total / runs % 10)) s on average, $((longest / 10)).$((longest % 10)) s at most"
done
echo "failures: $failures"
[ $failures = 0 ]
