#!/usr/bin/env bash
# record.sh OUT [BIN]: records the known-cause programs on a machine with a GPU, as OUT/cause_NAME.trace. BIN contains lanescope and the
# programs (default: build/release/bin).
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
out=$1
bin=${2:-$here/../../../build/release/bin}
for cause in slow_loader lock sync_each_launch tiny_kernels pageable_copies stream_wait serial_copies; do
  echo "== cause_$cause"
  "$bin/lanescope" profile -t cuda,nvtx,osrt -f -o "$out/cause_$cause.trace" -- "$bin/lanescope_program_cause_$cause"
done
