#!/bin/bash
# A process whose agent waits for the recorder in vain must run as it does alone, and must be reported as not followed. As nothing is recorded of others, the
# exit code is 1.
#
#   waited_in_vain.sh LANESCOPE PROGRAM        PROGRAM makes NVTX calls, and prints the same each time
#
# The recorder is stopped before the program starts, and continued after the program has ended.
set -u
lanescope=$1 program=$2
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
mkfifo ready begin

"$lanescope" profile -t nvtx -s none --cpuctxsw none -o x bash -c \
  'echo > ready; read -r < begin; "$1"; echo "ended with $?"; touch ended' bash "$program" > output 2> messages &
recorder=$!
read -r < ready
kill -STOP $recorder
while grep -h '^State:' /proc/$recorder/task/*/status | grep -qv stopped; do sleep 0.01; done  # each of its threads, for any may answer
echo > begin
while [ ! -e ended ]; do sleep 0.05; done
kill -CONT $recorder
wait $recorder
code=$?

failures=0
check() { if ! eval "$2"; then echo "waited_in_vain: $1"; failures=$((failures + 1)); fi; }
check "the recorder ended with $code" '[ $code = 1 ]'
check "the program's output is another than alone" 'cmp -s output <("$program"; echo "ended with $?")'
check "nobody says that a process could not be followed" 'grep -q "could not be followed, so nothing is recorded of what it did: its agent waited" messages'
check "the file calls itself complete" '"$lanescope" info x.trace | grep -q "Contents  *incomplete: processes could not be followed"'
[ $failures = 0 ] || cat messages
exit $failures
