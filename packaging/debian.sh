#!/usr/bin/env bash
# debian.sh NAME VERSION TREE FOLDER DEPENDS RECOMMENDS SUMMARY TEXT: makes FOLDER/NAME_VERSION_ARCHITECTURE.deb from what TREE has below usr/, with licences,
# changes and checksums. It changes TREE.
# debian.sh --viewer|--library|--development VERSION TREE FOLDER: the same for the viewer, for the C interface, and for the files to build programs
# with it. The first two depend on the packages of the libraries that they are linked with on this machine.
# DEB_HOST_ARCH: the architecture, as Debian names it (amd64). XZ_LEVEL: the compression for amd64 (9e), which tests set lower.
#
# Times are SOURCE_DATE_EPOCH and lists are sorted, so two packages of one tree are equal. The packages have no installation scripts.
set -euo pipefail
here=$(dirname "$(realpath "$0")")
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git -C "$here" log -1 --format=%ct)} LC_ALL=C TZ=UTC
umask 022
architecture=${DEB_HOST_ARCH:-amd64} level=${XZ_LEVEL:-9e}
version=$2 tree=$(realpath "$3") out=$(realpath "$4")

# linked NAME FILE: the packages of the libraries that this package's file is linked with.
linked() {
  local scratch depends
  scratch=$(mktemp -d)
  mkdir "$scratch/debian"
  printf 'Source: %s\n\nPackage: %s\nArchitecture: %s\n' "$1" "$1" "$architecture" >"$scratch/debian/control"
  depends=$(cd "$scratch" && dpkg-shlibdeps -O --ignore-missing-info "$2" 2>/dev/null | sed 's/^shlibs:Depends=//')
  rm -rf "$scratch"
  [ -n "$depends" ] || { echo "debian: no package is known for the libraries of $(basename "$2")" >&2; exit 1; }
  echo "$depends"
}

section=devel recommends=
case $1 in
  --viewer)
    name=lanescope recommends="libqt6svg6, qt6-wayland, qt6-translations-l10n, fonts-noto-cjk"
    summary="timeline profiler for CUDA programs: viewer"
    text="Draws recordings of CUDA programs on a timeline, also while they run, and
 says why a GPU was idle."
    "$here/viewer_page.py" "$tree/usr/bin/lanescope-ui" "$tree/usr"
    depends="$(linked lanescope "$tree/usr/bin/lanescope-ui"), lanescope-recorder (= $version)"
    ;;
  --library)
    name=liblanescope0 section=libs
    summary="traces of CUDA programs for other programs"
    text="Opens what Lanescope recorded for programs in C and in languages that call
 C: tables as streams of Apache Arrow, reports and findings."
    library=$(find "$tree/usr" -name 'liblanescope.so.*' -type f)
    depends=$(linked liblanescope0 "$library")
    mkdir -p "$tree/DEBIAN"
    echo "liblanescope 0 liblanescope0 (>= $version)" >"$tree/DEBIAN/shlibs"
    echo "activate-noawait ldconfig" >"$tree/DEBIAN/triggers"
    ;;
  --development)
    name=liblanescope-dev section=libdevel depends="liblanescope0 (= $version)"
    summary="traces of CUDA programs for other programs: headers"
    text="What programs that use liblanescope are built with: lanescope.h, and files
 for CMake (find_package(Lanescope)) and pkg-config."
    ;;
  *) name=$1 depends=$5 recommends=$6 summary=$7 text=$8 ;;
esac

mkdir -p "$tree/usr/share/doc/$name" "$tree/DEBIAN"
"$here/licences.py" "$name" >"$tree/usr/share/doc/$name/copyright"
gzip -9n <"$here/../CHANGELOG.md" >"$tree/usr/share/doc/$name/changelog.gz"
find "$tree/usr/share/man" -name '*.1' -exec gzip -9n {} + 2>/dev/null || true
{
  printf 'Package: %s\nVersion: %s\nArchitecture: %s\nMaintainer: The Lanescope authors\n' "$name" "$version" "$architecture"
  printf 'Installed-Size: %s\nDepends: %s\n' "$(du -sk --apparent-size "$tree/usr" | cut -f1)" "$depends"
  [ -z "$recommends" ] || printf 'Recommends: %s\n' "$recommends"
  printf 'Section: %s\nPriority: optional\nDescription: %s\n %s\n' "$section" "$summary" "$text"
} >"$tree/DEBIAN/control"
(cd "$tree" && find usr -type f | sort | xargs -d '\n' md5sum) >"$tree/DEBIAN/md5sums"
find "$tree" -type d -exec chmod 755 {} + -o -type f -exec chmod u=rwX,go=rX {} +
find "$tree" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
package=$out/${name}_${version}_$architecture.deb
pack() { dpkg-deb --root-owner-group -Zxz "$@" --uniform-compression --build "$tree" "$package" >/dev/null; }
if [ "$architecture" = amd64 ]; then
  # Code for x86-64 compresses by a tenth more with a filter that dpkg can unpack but can't be told to pack with (package.sh describes it).
  pack -z0
  parts=$(mktemp -d)
  (cd "$parts" && ar x "$package" && xz -d data.tar.xz && xz -T1 --x86 --lzma2=preset="$level" data.tar && ar rcD repacked.deb debian-binary control.tar.xz data.tar.xz)
  mv "$parts/repacked.deb" "$package"
  rm -rf "$parts"
else
  pack -z9 -Sextreme
fi
