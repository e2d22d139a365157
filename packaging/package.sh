#!/usr/bin/env bash
# package.sh [--viewer] [--aarch64] [FOLDER]: makes the packages for users, in FOLDER (build/packages):
#
#   lanescope-recorder-VERSION-linux-x86_64.tar.gz    the recorder, the command line, completions, man pages: unpack it anywhere, no root
#   lanescope-recorder-VERSION-linux-x86_64.tar.xz    the same in fewer bytes (if xz is installed)
#   lanescope-recorder_VERSION_amd64.deb              the same for Debian, Ubuntu and distributions based on them
#   lanescope-recorder-VERSION-1.x86_64.rpm           the same for distributions with RPM and glibc 2.28 (if rpmbuild is installed)
#   lanescope-recorder-VERSION-image.tar              the same as a layer for containers (docker load, podman load), to be copied from
#   lanescope-VERSION-py3-none-manylinux_2_28_x86_64.whl   the Python package with the recorder inside
#   lanescope_VERSION_amd64.deb                       the viewer, for Debian 12 and Ubuntu 24.04 (with --viewer; takes the release build)
#   lanescope-VERSION-linux-x86_64.tar.xz             the viewer with Qt beside it, and the recorder, for other desktops (likewise; if patchelf is installed)
#   liblanescope0_..., liblanescope-dev_...           the C interface, likewise: the library, and the files to build programs with it
#   ...linux-aarch64.tar.gz, .tar.xz, ..._arm64.deb, ...aarch64.rpm, ..._aarch64.whl   the recorder for Grace and other 64-bit Arm (with --aarch64; tried by aarch64_check.sh if qemu-user is installed)
#   ...debug.tar.gz, ...cdx.json, SHA256SUMS          debug files by build id, lists of contents (CycloneDX), checksums
#
# Packages made twice from one commit are equal: times are the commit's (or SOURCE_DATE_EPOCH), lists are sorted. Compiled with GCC 12 on
# Debian 12; the recorder runs with glibc 2.28 and newer (cmake/LanescopePortable.cmake). Zig and simdjson's source are fetched once.
set -euo pipefail
viewer=no aarch64=no out=
for argument in "$@"; do
  case $argument in
    -h | --help) exec sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0" ;;
    --viewer) viewer=yes ;;
    --aarch64) aarch64=yes ;;
    -*) echo "package: $argument is no option; --viewer and --aarch64 are" >&2; exit 2 ;;
    *) [ -z "$out" ] || { echo "package: one folder is enough, and these are two: $out, $argument" >&2; exit 2; }
       out=$(realpath -m -- "$argument") ;;
  esac
done
cd "$(dirname "$0")/.."
out=${out:-$PWD/build/packages}
# Existing files are replaced only if we made all of them: files of these names, and never a folder.
packages=(-type f -regextype posix-extended -regex '.*/((lib)?lanescope[-_0-9][^/]*(\.tar\.[gx]z|\.deb|\.rpm|\.whl|-image\.tar|\.cdx\.json)|SHA256SUMS)')
if [ -e "$out" ]; then
  other=$(find "$out" -mindepth 1 -maxdepth 1 ! \( "${packages[@]}" \) -print -quit)
  if [ ! -d "$out" ] || [ -n "$other" ]; then
    echo "package: ${other:-$out} is no package of Lanescope, and would be in the way; name a folder that is empty or not there" >&2
    exit 2
  fi
fi
tools=(curl file git python3-pip xz-utils rpm)
[ $viewer = no ] || tools+=(patchelf dpkg-dev)
[ $aarch64 = no ] || tools+=(g++-aarch64-linux-gnu qemu-user-static)
packaging/install-deps.sh "${tools[@]}"
for tool in cmake curl file git ninja python3 readelf realpath; do
  command -v "$tool" >/dev/null || { echo "package: $tool is not installed, and needed" >&2; exit 1; }
done
export HOME=${HOME:-$(getent passwd "$(id -u)" | cut -d: -f6)}
[ "$(uname -m)" = x86_64 ] || { echo "package: packages are made on x86-64, also those for aarch64 (--aarch64), and this is $(uname -m)" >&2; exit 1; }
if [ -z "${SOURCE_DATE_EPOCH:-}" ]; then
  SOURCE_DATE_EPOCH=$(git log -1 --format=%ct) || { echo "package: the time of the commit is not known; set SOURCE_DATE_EPOCH to the time of these sources, in seconds since 1970" >&2; exit 1; }
fi
export SOURCE_DATE_EPOCH LC_ALL=C TZ=UTC
umask 022
zig_version=0.17.1 simdjson_version=3.0.1
simdjson_hash=156b1bc5eb0561b2bd166b46d191fd3d95a3e709cc63761477d3b7aec2b6e9ed
zig_hash=ea6cc5d87b033cf0aedfbc8f9549a908cae6c50ac31f1698188fa48a74524b54
cache=$HOME/.cache/lanescope/portable
zig=$cache/ziglang/zig simdjson=$cache/simdjson-$simdjson_version/singleheader/simdjson.cpp
version=$(sed -n 's/^project(Lanescope VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# What is fetched is unpacked beside its place and then moved there, so that an interrupted run leaves nothing that a later one would take for whole.
mkdir -p "$cache"
unpacked=$(mktemp -d "$cache/new.XXXXXX")
trap 'rm -rf "$work" "$unpacked"' EXIT
# fetched FILE HASH: fails unless the file has this hash.
fetched() { echo "$2  $1" | sha256sum --check --status || { echo "package: $1 is not what is expected" >&2; exit 1; }; }
if [ "$("$zig" version 2>/dev/null)" != $zig_version ]; then
  echo "package: fetching Zig $zig_version (PyPI: ziglang)"
  python3 -m pip download -q --no-deps -d "$work" ziglang==$zig_version || { echo "package: Zig could not be fetched from PyPI; once the network is back, run this again" >&2; exit 1; }
  fetched "$(echo "$work"/ziglang-*.whl)" $zig_hash
  python3 -m zipfile -e "$work"/ziglang-*.whl "$unpacked"
  chmod +x "$unpacked/ziglang/zig"
  rm -rf "$cache/ziglang"
  mv "$unpacked/ziglang" "$cache/"
fi
if [ ! -f "$simdjson" ]; then
  echo "package: fetching simdjson $simdjson_version (Debian's source)"
  curl -sSfL --connect-timeout 30 --retry 3 -o "$work/simdjson.tar.gz" "http://deb.debian.org/debian/pool/main/s/simdjson/simdjson_$simdjson_version.orig.tar.gz" ||
    { echo "package: simdjson could not be fetched from deb.debian.org; once the network is back, run this again" >&2; exit 1; }
  fetched "$work/simdjson.tar.gz" $simdjson_hash
  tar xzf "$work/simdjson.tar.gz" -C "$unpacked" "simdjson-$simdjson_version/singleheader" "simdjson-$simdjson_version/LICENSE"
  rm -rf "$cache/simdjson-$simdjson_version"
  mv "$unpacked/simdjson-$simdjson_version" "$cache/"
fi

# build_recorder PRESET [OPTION...]
build_recorder() {
  local preset=$1
  shift
  cmake --preset "$preset" -DLANESCOPE_ZIG="$zig" -DLANESCOPE_SIMDJSON_SOURCE="$simdjson" "$@" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
  cmake --build "build/$preset" --parallel "$(nproc)" --target lanescope lanescope_agent lanescope_agent_kernels lanescope_mpi lanescope_ucx lanescope_opengl lanescope_openmp \
    lanescope_openacc lanescope_nvtx_entry lanescope_gpu_metrics lanescope_kernel_metrics lanescope_code_names >"$work/log" 2>&1 || { grep -vE '^\[[0-9]+/[0-9]+\]' "$work/log"; exit 1; }
}
echo "package: building the recorder"
build_recorder portable

# strip_tree TREE DEBUG [PREFIX]: moves the debug information of what is linked to DEBUG, by build id, where debuggers look for it. PREFIX is that of
# another processor's tools.
strip_tree() {
  local file id prefix=${3:-}
  while read -r file; do
    file -b "$file" | grep -q '^ELF' || continue
    id=$(readelf -n "$file" | sed -n 's/.*Build ID: //p')
    if [ -n "$id" ]; then
      mkdir -p "$2/.build-id/${id:0:2}"
      "${prefix}objcopy" --only-keep-debug "$file" "$2/.build-id/${id:0:2}/${id:2}.debug"
      chmod 644 "$2/.build-id/${id:0:2}/${id:2}.debug"
    fi
    "${prefix}strip" --strip-unneeded --remove-section=.comment "$file"
  done < <(find "$1" -type f | sort)
}

# The same order, times and owners give the same bytes. Code for x86-64 compresses better if calls of one function contain its address instead of the distance
# (xz --x86).
archive() {  # FILE FOLDER NAME
  local pack=(gzip -9n)
  [[ $1 != *.xz ]] || pack=(xz -T1 --lzma2=preset=9e)
  [[ $1 != *x86_64.tar.xz ]] || pack=(xz -T1 --x86 --lzma2=preset=9e)
  tar --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner --format=gnu -C "$2" -cf - "$3" | "${pack[@]}" >"$1"
}

mkdir -p "$out"
find "$out" -mindepth 1 -maxdepth 1 "${packages[@]}" -delete
base=lanescope-recorder-$version-linux-x86_64
tree=$work/$base
cmake --install build/portable --prefix "$tree" --component recorder >"$work/log" || { cat "$work/log"; exit 1; }
strip_tree "$tree" "$work/debug"
packaging/command_pages.py "$tree/bin/lanescope" "$tree"
# asks_for_old_c_library TREE
asks_for_old_c_library() {
  local file newest
  for file in "$1"/bin/* "$1"/lib/*.so; do
    newest=$(readelf -V "$file" | grep -oE 'GLIBC_2\.[0-9]+' | sort -uV | tail -1)
    [ "$(printf '%s\n' GLIBC_2.28 "$newest" | sort -V | tail -1)" = GLIBC_2.28 ] || { echo "package: $file asks for $newest" >&2; exit 1; }
  done
}
asks_for_old_c_library "$tree"

# is_hardened TREE: each program is loaded at an unpredictable address, and its linker tables can be neither written to nor executed.
is_hardened() {
  local file headers mark
  for file in "$1"/bin/* $([ ! -d "$1/lib" ] || find "$1/lib" -name '*.so*' -type f); do
    headers=$(readelf -hldW "$file")
    for mark in 'Type: +DYN' GNU_RELRO 'BIND_NOW|Flags:.* NOW' 'GNU_STACK.* RW '; do
      grep -Eq "$mark" <<<"$headers" || { echo "package: $file is not hardened: $mark is missing" >&2; exit 1; }
    done
  done
}
is_hardened "$tree"

for part in code-names kernel-metrics; do  # lanescope by another name (packaging/portable/part_of_lanescope.cpp)
  [ ! -x "$tree/bin/lanescope-$part" ] || { "$tree/bin/lanescope-$part" --help 2>&1 || true; } | grep "for lanescope\|started by lanescope" >/dev/null || { echo "package: lanescope-$part does not run" >&2; exit 1; }
done

# put_archive TREE DEBUG BASE: makes the archive of an installed recorder, with licences, and that of its debug files.
put_archive() {
  rm -rf "$work/tar" "$work/debugtree"
  mkdir -p "$work/tar" "$work/debugtree/$3-debug"
  cp -a "$1" "$work/tar/$3"
  mkdir -p "$work/tar/$3/share/doc/lanescope-recorder"
  packaging/licences.py lanescope-recorder >"$work/tar/$3/share/doc/lanescope-recorder/copyright"
  archive "$out/$3.tar.gz" "$work/tar" "$3"
  archive "$out/$3.tar.xz" "$work/tar" "$3"
  mv "$2/.build-id" "$work/debugtree/$3-debug/.build-id"
  archive "$out/$3-debug.tar.gz" "$work/debugtree" "$3-debug"
}

echo "package: packing"
put_archive "$tree" "$work/debug" "$base"
# put_deb TREE ARCHITECTURE
put_deb() {
  rm -rf "$work/deb"
  mkdir -p "$work/deb"
  cp -a "$1" "$work/deb/usr"
  DEB_HOST_ARCH=$2 packaging/debian.sh lanescope-recorder "$version" "$work/deb" "$out" "libc6 (>= 2.28)" "python3" "timeline profiler for CUDA programs: recorder and command line" \
    "Records what the threads of a program, the CUDA API, GPUs and NVTX ranges do
 into .trace files, and prints, compares and exports them. The viewer is in the
 package lanescope."
}
put_deb "$tree" amd64
# put_rpm TREE ARCHITECTURE
put_rpm() {
  command -v rpmbuild >/dev/null || { echo "package: no rpmbuild here, so no .rpm is made for $2" >&2; return 0; }
  rm -rf "$work/rpm"
  mkdir -p "$work/rpm"
  cp -a "$1" "$work/rpm/usr"
  packaging/rpm.sh "$version" "$work/rpm" "$out" "$2"
}
put_rpm "$tree" x86_64
packaging/image.py "$tree" "$version" "$out"
packaging/wheel.py "$tree" "$version" x86_64 "$out"
packaging/sbom.py "$version" amd64 >"$out/$base.cdx.json"

if [ "$aarch64" = yes ]; then
  echo "package: building the recorder for aarch64"
  sysroot=$HOME/.cache/lanescope/aarch64
  [ -d "$sysroot/usr" ] || packaging/sysroot.sh "$sysroot"
  build_recorder portable-aarch64 -DLANESCOPE_SYSROOT="$sysroot"
  there=$work/aarch64
  cmake --install build/portable-aarch64 --prefix "$there" --component recorder >"$work/log" || { cat "$work/log"; exit 1; }
  strip_tree "$there" "$work/debug-aarch64" aarch64-linux-gnu-
  asks_for_old_c_library "$there"
  is_hardened "$there"
  if command -v qemu-aarch64-static >/dev/null; then
    packaging/aarch64_check.sh "$there" "$sysroot" "$tree"
  else
    echo "package: no qemu-aarch64-static here, so the recorder for aarch64 was not tried" >&2
  fi
  cp -a "$tree/share/." "$there/share/"  # man pages and completions, which the program that runs here has made
  put_archive "$there" "$work/debug-aarch64" "${base/x86_64/aarch64}"
  put_deb "$there" arm64
  put_rpm "$there" aarch64
  packaging/wheel.py "$there" "$version" aarch64 "$out"
  packaging/sbom.py "$version" arm64 >"$out/${base/x86_64/aarch64}.cdx.json"
fi

if [ "$viewer" = yes ]; then
  echo "package: building the viewer"
  # Everything else that it is linked with has equal names and versions on both distributions.
  cmake --preset release -DLANESCOPE_SIMDJSON_SOURCE="$simdjson" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
  packaging/build.sh release lanescope-ui lanescope_c
  put() {  # TREE COMPONENT...
    local tree=$work/$1 component
    shift
    for component in "$@"; do
      cmake --install build/release --prefix "$tree/usr" --component "$component" >"$work/log" || { cat "$work/log"; exit 1; }
    done
    strip_tree "$tree" "$work/viewerdebug"
  }
  put viewer viewer desktop
  is_hardened "$work/viewer/usr"
  if command -v patchelf >/dev/null; then
    packaging/viewer_archive.sh "$version" "$work/viewer/usr" "$tree" "$out"
  else
    echo "package: no patchelf here, so no archive of the viewer is made" >&2
  fi
  packaging/debian.sh --viewer "$version" "$work/viewer" "$out"
  put library library
  packaging/debian.sh --library "$version" "$work/library" "$out"
  put development development
  packaging/debian.sh --development "$version" "$work/development" "$out"
  mkdir "$work/viewerdebugtree"
  mv "$work/viewerdebug" "$work/viewerdebugtree/lanescope-$version-linux-x86_64-debug"
  archive "$out/lanescope-$version-linux-x86_64-debug.tar.gz" "$work/viewerdebugtree" "lanescope-$version-linux-x86_64-debug"
fi
cd "$out"
sha256sum -- * >"$work/sums"
mv "$work/sums" SHA256SUMS
ls -l --block-size=1 | awk 'NR > 1 {printf "%12d  %s\n", $5, $9}'
