#!/bin/sh
# Runs the Python reader of docs/file-format.md on recordings, and compares the number of kernels with lanescope's. Then runs the reader of
# tests/interop, which compares everything in them. Files are read as they are, and compacted.
#
# Use: python_reader.sh SOURCE_FOLDER LANESCOPE FILE.trace...   Exit code 77 (skipped) if Python lacks the modules that the page needs.
set -eu
source=$1 lanescope=$2
shift 2
command -v protoc >/dev/null || exit 77
for python in ${LANESCOPE_PYTHON:-python3 /usr/bin/python3}; do  # distributions have the modules for their own
  "$python" -c 'import xxhash, zstandard, google.protobuf' 2>/dev/null && break || python=
done
[ -n "$python" ] || exit 77
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
protoc --python_out="$folder" -I "$source/proto" "$source/proto/lanescope/trace.proto"
sed -n '/^```python$/,/^```$/p' "$source/docs/file-format.md" | sed '1d;$d' >"$folder/reader.py"
# Each file in both of its forms.
for file in "$@"; do
  "$lanescope" export -q -t trace --form compact -o "$folder/$(basename "$file" .trace).compact.trace" "$file"
done
set -- "$@" "$folder"/*.compact.trace
for file in "$@"; do
  read_by_page=$("$python" "$folder/reader.py" "$file" | wc -l)
  known=$("$lanescope" info "$file" | sed -n 's/^ *Kernels *//p' | tr -d ,)
  if [ "$read_by_page" -ne "${known:-0}" ]; then
    echo "$file: the page's reader finds $read_by_page kernels, lanescope ${known:-0}" >&2
    exit 1
  fi
done
"$python" "$source/tests/interop/read_trace.py" "$lanescope" "$@"
