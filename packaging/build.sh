#!/usr/bin/env bash
# build.sh PRESET [TARGET...]: configures and builds a preset (dev, release, asan, tsan) quietly; if the build fails, its whole output is shown.
set -euo pipefail
case "${1:-}" in -h | --help) exec sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0" ;; esac
[ $# -gt 0 ] || { echo "build: which preset? See: packaging/build.sh --help" >&2; exit 2; }
cd "$(dirname "$0")/.."
preset=$1
shift
log=$(mktemp)
trap 'rm -f "$log"' EXIT

# The progress of the build, from its lines "[12/345] Building ...": updated in place on a terminal, otherwise a line for each tenth. Done in the shell, because
# some versions of awk read a pipe in blocks and would print nothing for minutes.
in_place=0
[ ! -t 1 ] || in_place=1
show_progress() {
  local line tenth told=0 shown=0
  while IFS= read -r line; do
    [[ $line =~ ^\[([0-9]+)/([0-9]+)\] ]] || continue
    tenth=$((10 * BASH_REMATCH[1] / BASH_REMATCH[2]))
    if [ $in_place = 1 ]; then
      printf '\rbuild: %d of %d steps' "${BASH_REMATCH[1]}" "${BASH_REMATCH[2]}"
      shown=1
    elif [ $tenth -gt $told ]; then
      printf 'build: %d %% (%d of %d steps)\n' $((10 * tenth)) "${BASH_REMATCH[1]}" "${BASH_REMATCH[2]}"
      told=$tenth
    fi
  done
  [ $shown = 0 ] || echo
}

echo "build: configuring preset $preset"
cmake --preset "$preset" >"$log" 2>&1 || { cat "$log"; exit 1; }
grep -E '^-- .*(not found|left out|is not|without)' "$log" | sed 's/^-- /build: /' || true
targets=()
[ $# -gt 0 ] && targets=(--target "$@")
echo "build: compiling ${*:-all} with $(nproc) processors, which takes minutes where little of it is there already"
begun=$SECONDS
status=0
cmake --build "build/$preset" --parallel "$(nproc)" "${targets[@]}" 2>&1 | tee "$log" | show_progress || status=$?
[ $status = 0 ] || { grep -vE '^\[[0-9]+/[0-9]+\]' "$log"; exit 1; }
echo "build: done in $((SECONDS - begun)) s"
