#!/usr/bin/env bash
# aarch64_check.sh TREE SYSROOT TREE_HERE: checks under qemu-user that the recorder for aarch64 in TREE does what the one for this machine does. Its help, its
# answers about the recordings of tests/data, and exports of some of them in every format must be byte-equal. It must record a program for aarch64 by profile,
# and by launch, start and stop, with all of its NVTX ranges and calls into the C library. Each of its libraries must load with all that it needs. SYSROOT has
# the C library for aarch64 (packaging/sysroot.sh).
#
# Not checked, because qemu-user does not have it: CUDA, GPUs and their counters, samples and states of threads, the real processor's counter as a clock.
set -euo pipefail
cd "$(dirname "$0")/.."
tree=$(realpath "$1") sysroot=$(realpath "$2") here=$(realpath "$3")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export LC_ALL=C.UTF-8 TMPDIR=$work
run=(qemu-aarch64-static -L "$sysroot")
there() { "${run[@]}" "$tree/bin/lanescope" "$@"; }
fail() { echo "aarch64_check: $*" >&2; exit 1; }

compared=0
same() {  # ARGUMENT...
  local said=0 expected=0
  there "$@" >"$work/there" 2>"$work/there.errors" || said=$?
  "$here/bin/lanescope" "$@" >"$work/here" 2>"$work/here.errors" || expected=$?
  [ "$said" = "$expected" ] || { cat "$work/there.errors" >&2; fail "lanescope $* ends with $said, on this machine with $expected"; }
  cmp -s "$work/there" "$work/here" || { diff "$work/here" "$work/there" | head -4 >&2; fail "lanescope $* prints something else than on this machine"; }
  compared=$((compared + 1))
}
same --version
for command in "" profile attach stats analyze export kernels report diff query; do same $command --help; done
for trace in $(find tests/data -name '*.trace' | sort); do
  same info "$trace"
  same stats -q "$trace"
  same analyze "$trace"
  [ "$(stat -c %s "$trace")" -lt 100000 ] || continue  # qemu takes 20 times as long
  same export -t csv -o - "$trace"
  same export -t json -o - "$trace"
  same report -q -o - "$trace"
done
same analyze --language zh_CN tests/data/torch_loader_samples.trace
same diff tests/data/torch_training_workers0.trace tests/data/torch_training_workers4.trace
same query tests/data/torch_training_workers0.trace 'SELECT family(name), count(*), sum(duration) FROM nvtx_ranges GROUP BY 1 ORDER BY 3 DESC'
mkdir "$work/exports-there" "$work/exports-here"
for name in cuda_streams torch_training_workers0 gpu_metrics; do
  for type in sqlite chrome parquet parquetdir arrow trace; do
    there export -q -t $type -o "$work/exports-there/$name.$type" "tests/data/$name.trace"
    "$here/bin/lanescope" export -q -t $type -o "$work/exports-here/$name.$type" "tests/data/$name.trace"
    if [ $type = sqlite ]; then  # all but when it was exported
      for side in there here; do
        python3 -c 'import sqlite3, sys; print(*(line for line in sqlite3.connect(sys.argv[1]).iterdump() if "EXPORT_TIME_UTC" not in line), sep="\n")' \
          "$work/exports-$side/$name.sqlite" >"$work/$side"
        mv "$work/$side" "$work/exports-$side/$name.sqlite"
      done
    fi
    diff -rq --exclude='META_DATA_EXPORT*' "$work/exports-there/$name.$type" "$work/exports-here/$name.$type" >&2 || fail "$name as $type is something else than on this machine"
    compared=$((compared + 1))
  done
done

nvtx=$(for root in "${CUDA_HOME:-/nonexistent}" /usr/local/cuda /usr/local/cuda/targets/x86_64-linux /usr "$HOME/.cache/lanescope"; do
  [ -e "$root/include/nvtx3/nvToolsExt.h" ] && echo "$root/include" && break; done)
aarch64-linux-gnu-g++ --sysroot="$sysroot" -O1 -std=c++20 -I "$nvtx" tests/programs/nvtx/nvtx_threads.cpp -o "$work/nvtx_threads" -ldl -lpthread
# The 1,642 ranges that the program and its child make by nesting, and its eight other ranges.
(cd "$work" && there profile -t nvtx,osrt -s none --cpuctxsw none -f -o recorded "${run[@]}" ./nvtx_threads) >"$work/said" 2>&1 || { cat "$work/said" >&2; fail "it did not record"; }
"$here/bin/lanescope" info "$work/recorded.trace" >"$work/info"
grep -Eq 'NVTX push/pop ranges +1,642$' "$work/info" && grep -Eq 'NVTX start/end ranges +8$' "$work/info" && grep -Eq 'OS runtime calls +[1-9]' "$work/info" || { cat "$work/info" >&2; fail "the recording lacks events"; }
# The same program in a session that was started before.
(
  cd "$work"
  there start --session-new=arm -f -o session && there launch --session-new=arm -t nvtx -s none --cpuctxsw none "${run[@]}" ./nvtx_threads
) >"$work/said" 2>&1 || { cat "$work/said" >&2; fail "a session does not record"; }
"$here/bin/lanescope" info "$work/session.trace" | grep -Eq 'NVTX push/pop ranges +1,642$' || fail "the recording of a session lacks ranges"

# Each library must load with all that it needs, so that nothing is missing when a program calls it.
printf '#include <dlfcn.h>\n#include <stdio.h>\nint main(int n, char** a) { void* l = dlopen(a[n - 1], RTLD_NOW); if (!l) puts(dlerror()); return !l; }\n' >"$work/loads.c"
aarch64-linux-gnu-gcc --sysroot="$sysroot" "$work/loads.c" -o "$work/loads" -ldl
libraries=0
for library in "$tree"/lib/*.so; do
  "${run[@]}" "$work/loads" "$library" >"$work/said" 2>&1 || { cat "$work/said" >&2; fail "$(basename "$library") does not load"; }
  libraries=$((libraries + 1))
done
# Injection is not implemented for aarch64: attach must say so, and what to do instead.
there attach $$ -d 1 -o "$work/refused" >"$work/said" 2>&1 && fail "attaching did not say that it is not there"
grep -q 'lanescope profile --arm' "$work/said" || { cat "$work/said" >&2; fail "attaching does not say what to do instead"; }
echo "aarch64_check: $compared answers and exports equal those of this machine; $libraries libraries load; $(sed -n 's/^ *Span *//p' "$work/info") recorded under qemu"
