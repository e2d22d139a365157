#!/usr/bin/env bash
# build.sh PRESET [TARGET...]: configures and builds a preset (dev, release, asan, tsan) quietly; the whole output of a failure is shown.
set -euo pipefail
case "${1:-}" in -h | --help) exec sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0" ;; esac
[ $# -gt 0 ] || { echo "build: which preset? See: packaging/build.sh --help" >&2; exit 2; }
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
