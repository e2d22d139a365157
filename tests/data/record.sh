#!/usr/bin/env bash
# record.sh OUT [BIN]: records the traces of this folder on a machine with a GPU, PyTorch and Numba. BIN holds lanescope and the compiled
# programs (default: build/release/bin). Prints what each program printed, because tests compare with it.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
out=$1
bin=${2:-$here/../../build/release/bin}
programs=$here/../programs

record() {
  local name=$1
  shift
  echo "== $name: lanescope profile -t cuda,nvtx -- $*"
  "$bin/lanescope" profile -t cuda,nvtx -f -o "$out/$name.trace" -- "$@" || echo "== $name: failed with $?"
}

record cuda_streams "$bin/lanescope_program_cuda_streams"
record numba_streams python3 "$programs/gpu/numba_streams.py" --streams 4
record numba_streams_bug python3 "$programs/gpu/numba_streams.py" --streams 4 --bug
record torch_training_workers0 python3 "$programs/gpu/torch_training.py" --workers 0 --steps 20
record torch_training_workers4 python3 "$programs/gpu/torch_training.py" --workers 4 --steps 20
record torch_graph python3 "$programs/gpu/torch_graph.py" --replays 50
record jax_training python3 "$programs/gpu/jax_training.py"
