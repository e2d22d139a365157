#!/usr/bin/env bash
# make.sh [NAME...]: draws the pictures of the documentation anew from tests/data, with the viewer as it is (without names: all of them).
# They are made small where ImageMagick is installed.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$here/../..
"$root/packaging/build.sh" dev lanescope-pictures
drawn=$("$root/build/dev/bin/lanescope-pictures" "$root/tests/data" "$here" "$@")
for picture in $drawn; do
  if command -v convert >/dev/null; then convert "$here/$picture" -strip -dither None -colors 224 "PNG8:$here/$picture"; fi
  ls -s --block-size=1K "$here/$picture"
done
