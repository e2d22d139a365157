#!/usr/bin/env bash
# installed.sh CMAKE BUILD PROGRAM: installs the recorder to a folder of its own, and records the program of tests/programs/nvtx/nvtx_threads.cpp from
# there, without anything from the build folder.
set -euo pipefail
cmake=$1 build=$2 program=$3
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
unset LANESCOPE_AGENT LANESCOPE_GPU_METRICS
"$cmake" --install "$build" --prefix "$folder/tree" --component recorder >"$folder/log" || { cat "$folder/log"; exit 1; }
cd "$folder"
fail() { echo "$1"; exit 1; }

said=$(tree/bin/lanescope profile -t nvtx,osrt,mpi -s none --cpuctxsw none -o x "$program") || fail "it did not record"
events=$(tree/bin/lanescope info x.trace)
read -r pushed _ <<<"$said"  # "1602 push/pop ranges, ...": without its child's 10 steps of 4
grep -Eq "NVTX push/pop ranges +$(( (pushed + 40) / 1000 )),$(( (pushed + 40) % 1000 ))\$" <<<"$events" || { echo "$said"; fail "$events"; }
maps=$(tree/bin/lanescope profile -t osrt,mpi -s none --cpuctxsw none -o y cat /proc/self/maps)
for library in liblanescope-agent.so liblanescope-mpi.so; do
  grep -q "$folder/tree/lib/$library" <<<"$maps" || fail "$library was not loaded from the installed tree"
done
path=$(tree/bin/lanescope profile -t nvtx --pytorch=autograd-nvtx -s none --cpuctxsw none -o z printenv PYTHONPATH)
[ -f "${path%%:*}/sitecustomize.py" ] || fail "no sitecustomize.py in $path"
case $path in "$folder"/tree/lib/*) ;; *) fail "PYTHONPATH is $path" ;; esac
[ -x tree/bin/lanescope-code-names ] || [ ! -x "$build/bin/lanescope-code-names" ] || fail "lanescope-code-names is not installed"
[ -f tree/lib/liblanescope-kernels.so ] || [ ! -f "$build/lib/liblanescope-kernels.so" ] || fail "liblanescope-kernels.so is not installed"
[ -x tree/bin/lanescope-gpu-metrics ] || [ ! -x "$build/bin/lanescope-gpu-metrics" ] || fail "lanescope-gpu-metrics is not installed"
