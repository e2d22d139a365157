#!/bin/bash
# Runs the program stress under every trace kind, launched and attached to. It must end in time, with the same exit code and output as alone.
#
#   stress.sh LANESCOPE PROGRAM [SECONDS]     SECONDS: for all runs together, 8 by default; 600 is a soak
#
# Prints a line for each run that differs, and their number. The exit status is 0 if none differs.
lanescope=$(realpath "$1")
program=$(realpath "$2")
total=${3:-8}
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
launched_only=,mpi,ucx,openmp,openacc,opengl  # what comes into a program by its loader or its runtime
kinds=(osrt nvtx nvtx,osrt python-gil "nvtx,osrt,python-gil,cuda$launched_only" samples syscall dwarf pc files ring)
each=$(awk "BEGIN { s = $total / (2 * ${#kinds[@]}); if (s > 10) s = 10; print s }")  # seconds of a run
limit=$(awk "BEGIN { print int(60 + 10 * $each) }")                                     # until it counts as hung
runs=0 failures=0
expected=$(printf 'ready\nas it should be')

fail() { failures=$((failures + 1)); echo "FAIL $1"; tail -3 messages 2>/dev/null | sed 's/^/    /'; }
options_of() {
  case $1 in
    samples) echo "-t osrt,nvtx -s process-tree --cpuctxsw process-tree" ;;
    dwarf) echo "-t osrt,nvtx -b dwarf --osrt-backtrace-threshold 1000" ;;
    syscall) echo "-t nvtx,osrt,syscall -s none" ;;
    pc) echo "-t cuda,nvtx --kernels=pc -s none --cpuctxsw none" ;;
    files) echo "-t nvtx --osrt-file-access=true -s none --cpuctxsw none" ;;
    ring) echo "-t nvtx,osrt --ring 1 -s process-tree" ;;
    *) echo "-t $1 -s none --cpuctxsw none" ;;
  esac
}

"$program" 0.3 > output 2> messages
[ $? = 23 ] && [ "$(cat output)" = "$expected" ] || { echo "stress.sh: the program alone is not as it should be:"; cat output messages; exit 2; }

begin=$(date +%s)
while :; do
  for kind in "${kinds[@]}"; do
    runs=$((runs + 1))
    timeout -k 5 "$limit" "$lanescope" profile $(options_of "$kind") -f -o x "$program" "$each" > output 2> messages
    code=$?
    [ $code = 23 ] && [ "$(grep -xE 'ready|.*as it should be' output)" = "$expected" ] || fail "launched, $kind: exit code $code, $(tr '\n' ' ' < output | cut -c1-100)"
    kind=${kind%"$launched_only"}
    runs=$((runs + 1))
    timeout -k 5 "$limit" "$program" "$each" > output 2> program_messages &
    waited=$!
    while [ ! -s output ] && kill -0 $waited 2>/dev/null; do :; done
    target=$(cat /proc/$waited/task/$waited/children | awk '{ print $1 }')
    timeout -k 5 "$limit" "$lanescope" attach $(options_of "$kind") -f -o y "$target" > attached 2> messages
    wait $waited; code=$?
    [ $code = 23 ] && [ "$(cat output)" = "$expected" ] || { cat program_messages >> messages; fail "attached, $kind: exit code $code, $(tr '\n' ' ' < output | cut -c1-100)"; }
  done
  [ $(($(date +%s) - begin)) -lt "${total%.*}" ] || break
done
echo "$runs runs, $failures not as alone"
[ $failures = 0 ]
