#!/bin/bash
# A training whose loader workers are forked anew for each epoch, on a machine with a GPU, PyTorch and torchvision. Measures the cost of recording, compared
# with nsys if it is installed, and checks that the training goes on while it is attached to repeatedly. Use: loader_forks.sh [LANESCOPE [ROUNDS [SECONDS]]]
# Prints a line for each way of recording in each of ROUNDS (2), then each attach that failed in SECONDS (90), and their number. Takes five minutes.
here=$(dirname "$(realpath "$0")")
lanescope=$(realpath "${1:-build/dev/bin/lanescope}")
nsys=$(ls /opt/nvidia/nsight-compute/*/host/target-linux-x64/nsys /usr/local/bin/nsys 2> /dev/null | head -1)
folder=$(mktemp -d); cd "$folder" || exit 1
rounds=${2:-2} seconds=${3:-90}
training=(python3 "$here/loader_forks.py")
way() { # NAME COMMAND...
  local name=$1; shift
  echo "$name: $(timeout 90 "$@" "${training[@]}" 6 6 2> /dev/null | grep '^epochs')"
}
for ((round = 1; round <= rounds; ++round)); do
  echo "round $round"
  way alone env
  way "cuda,nvtx" "$lanescope" profile -t cuda,nvtx -f -o a
  way "cuda,nvtx, no samples, no states" "$lanescope" profile -t cuda,nvtx -s none --cpuctxsw=none -f -o a
  way "nvtx, no samples, no states" "$lanescope" profile -t nvtx -s none --cpuctxsw=none -f -o a
  [ -n "$nsys" ] || continue
  way "nsys cuda,nvtx" "$nsys" profile -t cuda,nvtx -f true -o b
  way "nsys cuda,nvtx, no samples, no states" "$nsys" profile -t cuda,nvtx -s none --cpuctxsw=none -f true -o b
done

"${training[@]}" "$seconds" 6 > training.txt 2> /dev/null & program=$!
sleep 15
attaches=0 failures=0 begun=$SECONDS
while kill -0 $program 2> /dev/null && [ $SECONDS -lt $((begun + seconds + 60)) ]; do
  timeout 60 "$lanescope" attach $program -t cuda,nvtx,osrt -d 1 -f -o attached > attach.txt 2>&1 || {
    kill -0 $program 2> /dev/null || break
    failures=$((failures + 1)); tail -1 attach.txt
  }
  attaches=$((attaches + 1))
done
kill -0 $program 2> /dev/null && { failures=$((failures + 1)); echo "The training hangs."; kill -9 $program; }
wait $program
cat training.txt
echo "$attaches attaches, $failures failed"
exit $((failures > 0))
