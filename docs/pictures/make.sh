#!/usr/bin/env bash
# make.sh [NAME...]: draws the pictures of the documentation anew from tests/data, with the viewer as it is (without names: all of them). That of the page
# of lanescope report, "report", is drawn by Chromium, where it is installed. They are made small where ImageMagick is installed.
set -euo pipefail
cd "$(dirname "$0")/../.."
out=docs/pictures
packaging/build.sh dev lanescope-pictures lanescope
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# The beginning of the page.
draw_report() {
  (cd tests/data && ../../build/dev/bin/lanescope report torch_loader_samples.trace -o "$folder/report.html" >&2)
  chromium --headless --no-sandbox --disable-gpu --hide-scrollbars --user-data-dir="$folder/browser" --window-size=1100,970 \
    --screenshot="$out/report.png" "file://$folder/report.html" 2>"$folder/log" || { cat "$folder/log" >&2; return 1; }
  echo report.png
}

wanted=() with_report=
for name in "$@"; do if [ "$name" = report ]; then with_report=yes; else wanted+=("$name"); fi; done
[ $# -gt 0 ] || ! command -v chromium >/dev/null || with_report=yes
pictures=$([ $# -gt 0 ] && [ ${#wanted[@]} -eq 0 ] || build/dev/bin/lanescope-pictures tests/data "$out" ${wanted[@]+"${wanted[@]}"})
[ -z "$with_report" ] || pictures+=$'\n'$(draw_report)
for picture in $pictures; do
  if command -v convert >/dev/null; then convert "$out/$picture" -strip -dither None -colors 224 "PNG8:$out/$picture"; fi
  ls -s --block-size=1K "$out/$picture"
done
