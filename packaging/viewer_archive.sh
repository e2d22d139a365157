#!/usr/bin/env bash
# viewer_archive.sh VERSION VIEWER RECORDER FOLDER: makes FOLDER/lanescope-VERSION-linux-x86_64.tar.xz, and a .cdx.json that lists its contents (CycloneDX).
# It has the viewer, with Qt and all other libraries beside it, and the recorder: unpack it anywhere and run bin/lanescope-ui, without root and without
# packages, on any desktop with the C library of the build machine or a newer one (Debian 12: glibc 2.36). VIEWER and RECORDER are installed trees (bin, lib,
# share); they are not changed.
#
# The programs find these files relative to themselves (an RPATH, qt.conf); from the system they use only the C library, fonts and the display. Times
# are SOURCE_DATE_EPOCH and lists are sorted, so two archives of one tree are equal. Needs patchelf. XZ_LEVEL: compression level (6).
set -euo pipefail
here=$(dirname "$(realpath "$0")")
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git -C "$here" log -1 --format=%ct)} LC_ALL=C TZ=UTC
umask 022
version=$1 viewer=$(realpath "$2") recorder=$(realpath "$3") out=$(realpath "$4")
command -v patchelf >/dev/null || { echo "viewer_archive: patchelf is missing" >&2; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
base=lanescope-$version-linux-x86_64
tree=$work/$base beside=lib/lanescope-viewer
mkdir -p "$tree"
cp -a "$recorder/." "$tree/"
cp -a "$viewer/." "$tree/"
mkdir -p "$tree/$beside/plugins" "$tree/$beside/translations"

# The Qt that the program is linked with on this machine, and those of its plug-ins that a desktop needs.
qt=$(dirname "$(realpath "$(ldd "$tree/bin/lanescope-ui" | sed -n 's/.*libQt6Core.so.6 => \([^ ]*\).*/\1/p')")")
plugins=$qt/qt6/plugins
translations=$(qmake6 -query QT_INSTALL_TRANSLATIONS 2>/dev/null || echo /usr/share/qt6/translations)
for plugin in platforms/libqxcb platforms/libqoffscreen platforms/libqwayland-generic wayland-shell-integration/libxdg-shell iconengines/libqsvgicon \
  imageformats/libqsvg imageformats/libqjpeg imageformats/libqico imageformats/libqgif platforminputcontexts/libcomposeplatforminputcontextplugin \
  platforminputcontexts/libibusplatforminputcontextplugin platformthemes/libqxdgdesktopportal; do
  [ -e "$plugins/$plugin.so" ] || continue
  mkdir -p "$tree/$beside/plugins/$(dirname "$plugin")"
  cp -L "$plugins/$plugin.so" "$tree/$beside/plugins/$plugin.so"
done
[ -e "$tree/$beside/plugins/platforms/libqxcb.so" ] || { echo "viewer_archive: Qt has no plug-in for X11 in $plugins" >&2; exit 1; }
for catalogue in "$translations"/qtbase_zh_CN.qm; do [ ! -e "$catalogue" ] || cp -L "$catalogue" "$tree/$beside/translations/"; done

# All libraries that these files need, directly or indirectly, except the system's C library.
of_c_library='^(ld-linux[^ ]*|libc|libm|libdl|libpthread|librt|libresolv|libutil|libanl|libnsl|linux-vdso)\.so'
find "$tree/bin/lanescope-ui" "$tree/$beside/plugins" -type f | sort | xargs -d '\n' ldd |
  sed -n 's/^\t\([^ ]*\) => \(\/[^ ]*\).*/\1 \2/p' | sort -u | grep -vE "$of_c_library" >"$work/libraries"
cut -d' ' -f2 "$work/libraries" | xargs -d '\n' realpath >"$work/files"
while read -r name path; do cp -L "$path" "$tree/$beside/$name"; done <"$work/libraries"
# Packages list files below /lib or below /usr/lib, whichever of the two is a link.
{ cat "$work/files"; sed 's,^/usr/,/,' "$work/files"; } | { xargs -d '\n' dpkg -S 2>/dev/null || true; } |
  grep -v '^diversion' | sed 's/:.* / /' | awk '{n = split($2, part, "/"); print $1, part[n]}' | sort -u >"$work/bundled"
sed 's,.*/,,' "$work/files" | sort -u | while read -r file; do
  grep -q " $file\$" "$work/bundled" || { echo "viewer_archive: $file is of no package, so its licence is not known" >&2; exit 1; }
done
patchelf --force-rpath --set-rpath "\$ORIGIN/../$beside" "$tree/bin/lanescope-ui"
printf '[Paths]\nPrefix = ../%s\nPlugins = plugins\nTranslations = translations\n' "$beside" >"$tree/bin/qt.conf"
ln -s bin/lanescope-ui "$tree/lanescope-ui"

# The packages of these libraries and their licences.
doc=$tree/share/doc/lanescope
mkdir -p "$doc/licences"
"$here/licences.py" lanescope >"$doc/copyright"
"$here/licences.py" lanescope-recorder >"$doc/licences/lanescope-recorder"
{
  echo "The folder $beside has libraries of Debian, unchanged, of these packages. Their sources are kept at https://snapshot.debian.org. Another build of"
  echo "a library takes effect when it is put in its place there."
  echo
  cut -d' ' -f1 "$work/bundled" | sort -u | while read -r package; do
    echo "$package $(dpkg-query -W -f '${Version}' "$package" 2>/dev/null | head -1): $(sed -n "s/^$package //p" "$work/bundled" | sort | tr '\n' ' ')"
    [ ! -e "/usr/share/doc/$package/copyright" ] || cp -L "/usr/share/doc/$package/copyright" "$doc/licences/$package"
  done
} >"$doc/bundled.txt"

cut -d' ' -f1 "$work/bundled" >"$work/packages"
"$here/sbom.py" "$version" amd64 "$work/packages" >"$out/$base.cdx.json"

find "$tree" -type d -exec chmod 755 {} + -o -type f -exec chmod u=rwX,go=rX {} +
find "$tree/$beside" -type f -exec chmod 644 {} +
tar --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner --format=gnu -C "$work" -cf - "$base" | xz -T1 --x86 --lzma2=preset="${XZ_LEVEL:-6}" >"$out/$base.tar.xz"
