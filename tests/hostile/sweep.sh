#!/usr/bin/env bash
# sweep.sh PROGRAMS [short]: makes hostile files of 10 MB and runs every command, and the viewer, on each. Prints a table of processor time and
# peak memory, and fails where one took more than 5 s or 1 GiB, or did not end by itself. Takes hours; `short`, which ctest runs, tries some
# files with the commands that would take minutes to hours without their limits, and grants them 60 s, so that no machine is too slow.
set -euo pipefail
programs=${1:?"Use: sweep.sh PROGRAMS [short]"}
here=$(cd "$(dirname "$0")" && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
bytes=9900000

if [ "${2:-}" != short ]; then
  "$programs/lanescope_hostile_files" "$folder" "$bytes" >/dev/null
  python3 "$here/foreign_files.py" "$folder" "$bytes" >/dev/null
  exec python3 "$here/measure.py" --programs "$programs" --all "$folder"/*
fi
status=0
try() {
  local commands=$1
  shift
  python3 "$here/foreign_files.py" "$folder" "$bytes" "$@" >/dev/null
  python3 "$here/measure.py" --programs "$programs" --all --seconds 60 --commands "$commands" "${@/#/$folder/}" || status=1
}
try info,analyze,trace processes.json
try analyze,diff streams.json overlapping_kernels.json
try chrome,sqlite,trace deep_begins.json
exit "$status"
