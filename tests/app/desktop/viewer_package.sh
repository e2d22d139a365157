#!/usr/bin/env bash
# viewer_package.sh CMAKE BUILD PACKAGING TRACE: makes the viewer's Debian package of a build, and checks its contents. Packages made twice must be equal.
# Exit code 77 (skipped) if the tools for it are missing, or if Qt is not the system's.
set -euo pipefail
cmake=$1 build=$2 packaging=$3 trace=$4
for tool in dpkg-deb dpkg-shlibdeps; do command -v $tool >/dev/null || exit 77; done
widgets=$(ldd "$build/bin/lanescope-ui" | sed -n 's/.*libQt6Widgets.so.6 => \([^ ]*\).*/\1/p')
dpkg -S "$(realpath "${widgets:-/}")" >/dev/null 2>&1 || exit 77  # Qt is of no package here
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
fail() { echo "$1"; exit 1; }
for component in viewer desktop; do
  "$cmake" --install "$build" --prefix "$folder/tree/usr" --component $component >"$folder/log" || { cat "$folder/log"; exit 1; }
done
strip --strip-unneeded "$folder/tree/usr/bin/lanescope-ui"
export SOURCE_DATE_EPOCH=1700000000 XZ_LEVEL=0
for copy in first second; do
  cp -a "$folder/tree" "$folder/$copy-tree"
  mkdir "$folder/$copy"
  "$packaging/debian.sh" --viewer 0.1.0 "$folder/$copy-tree" "$folder/$copy"
done
cp -a "$folder/tree" "$folder/other-tree"
"$packaging/debian.sh" --viewer 0.2.0 "$folder/other-tree" "$folder/first"
package=$folder/first/lanescope_0.1.0_amd64.deb
cmp "$package" "$folder/second/lanescope_0.1.0_amd64.deb" || fail "made twice, the package is not the same"

contents=$(dpkg-deb -c "$package")
for file in bin/lanescope-ui share/applications/io.github.lanescope.Lanescope.desktop share/mime/packages/lanescope.xml \
  share/metainfo/io.github.lanescope.Lanescope.metainfo.xml share/icons/hicolor/scalable/apps/lanescope.svg \
  share/icons/hicolor/scalable/mimetypes/application-x-lanescope-trace.svg share/doc/lanescope/copyright share/doc/lanescope/changelog.gz share/man/man1/lanescope-ui.1.gz; do
  grep -q " \./usr/$file\$" <<<"$contents" || fail "usr/$file is not in the package: $contents"
done
awk '$2 != "root/root"' <<<"$contents" | grep . && fail "not everything is root's"
grep -qE '^-rwxr-xr-x .*/bin/lanescope-ui$' <<<"$contents" || fail "the viewer is no program: $contents"
! dpkg-deb -e "$package" "$folder/control" || ! ls "$folder/control" | grep -vE '^(control|md5sums)$' || fail "a script runs when it is installed"
depends=$(dpkg-deb -f "$package" Depends)
for library in libqt6widgets6 libqt6charts6 libc6 "lanescope-recorder (= 0.1.0)"; do
  case $depends in *"$library"*) ;; *) fail "it does not depend on $library: $depends" ;; esac
done
dpkg-deb -x "$package" "$folder/unpacked"
(cd "$folder/unpacked" && md5sum --check --quiet "$folder/control/md5sums") || fail "its checksums are others"
page=$(gunzip <"$folder/unpacked/usr/share/man/man1/lanescope-ui.1.gz")
for option in '\-\-screenshot' '\-\-range' '\-\-language' '\-\-version'; do
  grep -qF -- "$option" <<<"$page" || fail "the man page does not know $option"
done
if command -v man >/dev/null; then
  warnings=$(LC_ALL=C.UTF-8 MANROFFSEQ='' man --warnings -E UTF-8 -l "$folder/unpacked/usr/share/man/man1/lanescope-ui.1.gz" 2>&1 >/dev/null)
  [ -z "$warnings" ] || fail "man: $warnings"
fi
grep -q 'GPL-3' "$folder/unpacked/usr/share/doc/lanescope/copyright" || fail "the licence of Qt Charts is not told"
if command -v desktop-file-validate >/dev/null; then
  desktop-file-validate "$folder/unpacked/usr/share/applications/"*.desktop || fail "the desktop file has faults"
fi
QT_QPA_PLATFORM=offscreen HOME=$folder "$folder/unpacked/usr/bin/lanescope-ui" --version | grep -q '0\.1\.0' || fail "the viewer does not start"
# dpkg installs one version. Another one is unpacked into a folder, where it runs as well, without root.
mkdir "$folder/a place"
dpkg-deb -x "$folder/first/lanescope_0.2.0_amd64.deb" "$folder/a place"
for root in "$folder/unpacked" "$folder/a place"; do
  QT_QPA_PLATFORM=offscreen HOME=$folder "$root/usr/bin/lanescope-ui" "$trace" --screenshot "$folder/x.png" -f --size 400x300 || fail "the viewer in $root does not draw"
done
