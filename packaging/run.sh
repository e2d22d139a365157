#!/usr/bin/env bash
# run.sh [PROGRAM ARGUMENTS...]: installs what is missing, builds, profiles the program, and opens the recording.
#
# Without a program it profiles a bundled one: a CUDA program if there are a GPU and nvcc, otherwise a program with NVTX ranges, threads and a fork. It
# then also analyses a PyTorch training that was recorded on a GPU. The viewer opens if there is a display; a summary is always printed. Packages are
# installed by apt, with sudo, and the first build takes minutes.
set -euo pipefail
case "${1:-}" in -h | --help) exec sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0" ;; esac
root=$(cd "$(dirname "$0")/.." && pwd)
bin="$root/build/release/bin"

# What happens now, and the time since the start.
stage() { printf 'run: %2d:%02d  %s\n' $((SECONDS / 60)) $((SECONDS % 60)) "$1"; }

stage "installing what is missing"
"$root/packaging/install-deps.sh"
stage "building"
"$root/packaging/build.sh" release lanescope_with_programs

gpu=no
! command -v nvidia-smi >/dev/null || ! nvidia-smi -L >/dev/null 2>&1 || gpu=yes
if [ $gpu = yes ] && [ ! -e "$root/build/release/lib/liblanescope-kernels.so" ]; then  # which is built with CUDA's headers alone
  echo "run: there is a GPU here, and no CUDA toolkit that the build found, so calls of CUDA and work of GPUs are not recorded. Install one" >&2
  echo "run: (https://developer.nvidia.com/cuda-downloads), or name its folder in CUDA_HOME; then remove build/release and run this again." >&2
fi
example=
if [ $# -gt 0 ]; then
  program=("$@")
elif [ $gpu = yes ] && [ -x "$bin/lanescope_program_cuda_streams" ]; then
  program=("$bin/lanescope_program_cuda_streams")
else
  echo "run: no GPU that can be recorded here, so a program that only uses NVTX is profiled"
  program=("$bin/lanescope_program_nvtx_threads")
  example="$root/tests/data/torch_loader_samples.trace"
fi

recording=$(mktemp -d)/lanescope.trace
[ $# -gt 0 ] && recording=report%n.trace
status=0
stage "profiling ${program[*]}"
output=$("$bin/lanescope" profile -o "$recording" -- "${program[@]}" 2>&1 | tee >(cat >&2)) || status=$?
recording=$(printf '%s\n' "$output" | sed -n 's/^[[:space:]]*\(\/.*\.trace\)$/\1/p' | tail -n 1)
[ -n "$recording" ] && [ -s "$recording" ] || { echo "run: nothing was recorded" >&2; exit $((status ? status : 1)); }

stage "reading what was recorded"
"$bin/lanescope" info "$recording"
"$bin/lanescope" stats "$recording"
if [ -n "$example" ]; then
  printf '\nrun: what Lanescope says of a PyTorch training that was recorded on an NVIDIA H200 (%s):\n\n' "${example#"$root"/}"
  "$bin/lanescope" analyze "$example"
fi
shown=${example:-$recording}
if [ ! -x "$bin/lanescope-ui" ]; then
  stage "done. The viewer was not built (see what the build said of Qt); a page of the recording: $bin/lanescope report $shown"
elif [ -z "${DISPLAY:-}${WAYLAND_DISPLAY:-}" ]; then
  stage "done. There is no display here. Open it on a machine with one: lanescope-ui $shown"
  echo "run: here: $bin/lanescope report $shown, a page for a browser; or $bin/lanescope-ui $shown --screenshot timeline.png"
else
  stage "opening the viewer; it ends with its window"
  "$bin/lanescope-ui" "$shown"
fi
[ $# -gt 0 ] || echo "run: next, your own program: packaging/run.sh PROGRAM ARGUMENTS, or $bin/lanescope profile PROGRAM ARGUMENTS; README.md says how to go on"
exit "$status"
