#!/usr/bin/env bash
# build.sh PRESET [TARGET...]: configures and builds a preset (dev, release, asan, tsan) quietly; the whole output of a failure is shown.
set -euo pipefail
cd "$(dirname "$0")/.."
preset=$1
shift
log=$(mktemp)
trap 'rm -f "$log"' EXIT
echo "build: preset $preset"
cmake --preset "$preset" >"$log" 2>&1 || { cat "$log"; exit 1; }
grep -E '^-- .*(not found|left out|is not|without)' "$log" | sed 's/^-- /build: /' || true
targets=()
[ $# -gt 0 ] && targets=(--target "$@")
cmake --build "build/$preset" --parallel "$(nproc)" "${targets[@]}" >"$log" 2>&1 || { grep -vE '^\[[0-9]+/[0-9]+\]' "$log"; exit 1; }
