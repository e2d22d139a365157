#!/usr/bin/env bash
# viewer_archive.sh CMAKE BUILD PACKAGING TRACE: makes the viewer's archive of a build, unpacks it elsewhere, and runs its contents. Archives made twice must be
# equal, and those of two versions lie side by side. Exit code 77 (skipped) if the tools for it are missing, or if Qt is not the system's.
set -euo pipefail
cmake=$1 build=$2 packaging=$3 trace=$4
for tool in patchelf xz dpkg; do command -v $tool >/dev/null || { echo "there is no $tool"; exit 77; }; done
widgets=$(ldd "$build/bin/lanescope-ui" | sed -n 's/.*libQt6Widgets.so.6 => \([^ ]*\).*/\1/p')
dpkg -S "$(realpath "${widgets:-/}")" >/dev/null 2>&1 || { echo "Qt is of no package here"; exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
fail() { echo "$1"; exit 1; }
for component in viewer desktop; do
  "$cmake" --install "$build" --prefix "$folder/viewer" --component $component >"$folder/log" || { cat "$folder/log"; exit 1; }
done
strip --strip-unneeded "$folder/viewer/bin/lanescope-ui"
mkdir -p "$folder/recorder/bin"
echo "what records" >"$folder/recorder/bin/lanescope"
export SOURCE_DATE_EPOCH=1700000000 XZ_LEVEL=0
for copy in first second; do
  mkdir "$folder/$copy"
  "$packaging/viewer_archive.sh" 0.1.0 "$folder/viewer" "$folder/recorder" "$folder/$copy"
done
archive=lanescope-0.1.0-linux-x86_64.tar.xz
for file in $archive ${archive%.tar.xz}.cdx.json; do cmp "$folder/first/$file" "$folder/second/$file" || fail "made twice, $file is not the same"; done
"$packaging/viewer_archive.sh" 0.2.0 "$folder/viewer" "$folder/recorder" "$folder/first"
rm -rf "$folder/viewer" "$folder/second"

mkdir "$folder/a place"
tar xJf "$folder/first/$archive" -C "$folder/a place"
root="$folder/a place/lanescope-0.1.0-linux-x86_64"
for file in bin/lanescope bin/qt.conf lib/lanescope-viewer/libQt6Charts.so.6 lib/lanescope-viewer/plugins/platforms/libqxcb.so share/doc/lanescope/bundled.txt \
  share/doc/lanescope/licences/libqt6core6 share/applications/io.github.lanescope.Lanescope.desktop; do
  [ -e "$root/$file" ] || fail "$file is not in the archive"
done
grep -q 'GPL-3' "$root/share/doc/lanescope/copyright" || fail "the licence of Qt Charts is not told"
grep -q '^libqt6core6.* 6\.' "$root/share/doc/lanescope/bundled.txt" || fail "the version of Qt is not told"
python3 - "$folder/first/${archive%.tar.xz}.cdx.json" "$root/share/doc/lanescope/bundled.txt" <<'END' || fail "what is in the archive is not what is said to be in it"
import json, re, sys
said = {(part["name"], part["version"]) for part in json.load(open(sys.argv[1]))["components"]}
bundled = re.findall(r"^(\S+) (\S+): ", open(sys.argv[2]).read(), flags=re.M)
assert len(bundled) > 10 and set(bundled) <= said, set(bundled) - said
assert any(name == "simdjson" for name, _ in said)
END
# From the system, the program and its plug-ins use only the C library; all other libraries are beside it.
export QT_QPA_PLATFORM=offscreen HOME=$folder
run() { env -u QT_PLUGIN_PATH -u LD_LIBRARY_PATH "$@"; }
run "$root/lanescope-ui" --version | grep -q '0\.1\.0' || fail "the viewer does not start"
LD_DEBUG=files LD_DEBUG_OUTPUT=$folder/loaded run "$root/bin/lanescope-ui" "$trace" --screenshot "$folder/x.png" --size 800x600
head -c 4 "$folder/x.png" | grep -q PNG || fail "nothing was drawn"
sed -n 's/.*calling init: //p' "$folder"/loaded.* | sort -u >"$folder/files"
grep -q "a place/.*/libqoffscreen.so" "$folder/files" || fail "Qt's plug-ins are not those beside the program: $(cat "$folder/files")"
foreign=$(grep -v "a place/" "$folder/files" | grep -vE '/(ld-linux[^/]*|lib(c|m|dl|pthread|rt|resolv|nss_[a-z]+))\.so[.0-9]*$' || true)
[ -z "$foreign" ] || fail "taken from the system: $foreign"

# Another version beside it uses its own files only, also after the first one is removed.
tar xJf "$folder/first/lanescope-0.2.0-linux-x86_64.tar.xz" -C "$folder/a place"
[ "$(ls "$folder/a place" | wc -l)" = 2 ] || fail "two versions do not lie in folders of their own: $(ls "$folder/a place")"
run "$root/lanescope-ui" "$trace" --screenshot "$folder/first.png" --size 400x300 || fail "the first version does not draw beside the second"
rm -rf "$root"
LD_DEBUG=files LD_DEBUG_OUTPUT=$folder/beside run "$folder/a place/lanescope-0.2.0-linux-x86_64/lanescope-ui" "$trace" --screenshot "$folder/second.png" --size 400x300
head -c 4 "$folder/second.png" | grep -q PNG || fail "the second version draws nothing once the first is gone"
! cat "$folder"/beside.* | grep "calling init" | grep -F "lanescope-0.1.0" || fail "the second version uses files of the first"
