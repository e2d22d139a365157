#!/usr/bin/env bash
# installed.sh CMAKE BUILD LANESCOPE TRACE: installs the library to a folder of its own, moves the folder, builds a program in C only with what is there, and
# compares its output with that of the command line.
set -euo pipefail
cmake=$1 build=$2 lanescope=$3 trace=$4
consumer=$(dirname "$(realpath "$0")")/consumer
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
fail() { echo "$1"; exit 1; }
for component in library development; do
  "$cmake" --install "$build" --prefix "$folder/first" --component $component >"$folder/log" || { cat "$folder/log"; exit 1; }
done
mv "$folder/first" "$folder/tree"
! grep -rlE "$build|$folder" "$folder/tree" --include='*.cmake' --include='*.pc' || fail "a fixed path is in the installed tree"

expected=$("$lanescope" stats -q -f csv -r cuda_gpu_kern_sum "$trace")
total=$(cut -d, -f2,3 <<<"$expected" | awk -F, 'NR > 1 {time += $1; count += $2} END {printf "%d kernels, %d ns", count, time}')
check() { [ "$2" = "$total"$'\n'"$expected" ] || fail "$1 printed: $2"; }

"$cmake" -S "$consumer" -B "$folder/consumer" -DCMAKE_PREFIX_PATH="$folder/tree" >"$folder/log" 2>&1 || { cat "$folder/log"; exit 1; }
"$cmake" --build "$folder/consumer" >"$folder/log" 2>&1 || { cat "$folder/log"; exit 1; }
check "the program that CMake built" "$("$folder/consumer/consumer" "$trace")"
said=$("$folder/consumer/consumer" /no/such.trace 2>&1) && fail "a file that is not there was opened"
grep -q '/no/such.trace' <<<"$said" || fail "it said: $said"

if command -v pkg-config >/dev/null; then
  export PKG_CONFIG_PATH=$(dirname "$(find "$folder/tree" -name lanescope.pc)")
  read -ra flags <<<"$(pkg-config --cflags --libs lanescope)"
  cc -std=c99 -Wall -Werror "$consumer/consumer.c" -o "$folder/by_pkg_config" "${flags[@]}"
  check "the program that pkg-config built" "$(LD_LIBRARY_PATH=$(pkg-config --variable=libdir lanescope) "$folder/by_pkg_config" "$trace")"
fi
needed=$(readelf -d "$folder/consumer/consumer" | sed -n 's/.*NEEDED.*\[\(liblanescope.*\)\]/\1/p')
[ "$needed" = liblanescope.so.0 ] || fail "it is linked with $needed"
