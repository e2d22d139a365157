#!/usr/bin/env bash
# make.sh [NAME...]: draws the pictures of the documentation anew from tests/data, with the viewer as it is (without names: all of them).
# They are made small where ImageMagick is installed.
set -euo pipefail
cd "$(dirname "$0")/../.."
out=docs/pictures
packaging/build.sh dev lanescope-pictures
for picture in $(build/dev/bin/lanescope-pictures tests/data "$out" "$@"); do
  if command -v convert >/dev/null; then convert "$out/$picture" -strip -dither None -colors 224 "PNG8:$out/$picture"; fi
  ls -s --block-size=1K "$out/$picture"
done
