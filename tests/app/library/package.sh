#!/usr/bin/env bash
# package.sh CMAKE BUILD PACKAGING TRACE: makes the Debian packages of the library and of its development files, unpacks them into one root, and
# builds and runs a program in C with what is there. Exit code 77 (skipped) if the tools for it are missing.
set -euo pipefail
cmake=$1 build=$2 packaging=$3 trace=$4
for tool in dpkg-deb dpkg-shlibdeps; do command -v $tool >/dev/null || exit 77; done
dpkg -S "$(realpath "$(ldd "$build/lib/liblanescope.so" | sed -n 's/.*libprotobuf.* => \([^ ]*\).*/\1/p')")" >/dev/null 2>&1 || exit 77  # of no package here
consumer=$(dirname "$(realpath "$0")")/consumer
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
fail() { echo "$1"; exit 1; }
export SOURCE_DATE_EPOCH=1700000000 XZ_LEVEL=0
for copy in first second; do
  mkdir "$folder/$copy"
  for component in library development; do
    "$cmake" --install "$build" --prefix "$folder/$copy-$component/usr" --component $component >"$folder/log" || { cat "$folder/log"; exit 1; }
    find "$folder/$copy-$component" -name '*.so.*' -type f -exec strip --strip-unneeded {} +
    "$packaging/debian.sh" --$component 0.1.0 "$folder/$copy-$component" "$folder/$copy"
  done
done
for package in liblanescope0 liblanescope-dev; do
  file=${package}_0.1.0_amd64.deb
  cmp "$folder/first/$file" "$folder/second/$file" || fail "made twice, $file is not the same"
  dpkg-deb -x "$folder/first/$file" "$folder/root"
  rm -rf "$folder/control"
  dpkg-deb -e "$folder/first/$file" "$folder/control"
  ! ls "$folder/control" | grep -vE '^(control|md5sums|shlibs|triggers)$' || fail "a script runs when $file is installed"
  grep -q '^Depends: .' "$folder/control/control" || fail "$file depends on nothing"
done
case $(dpkg-deb -f "$folder/first/liblanescope0_0.1.0_amd64.deb" Depends) in *libprotobuf*) ;; *) fail "libprotobuf is not among what the library depends on" ;; esac
case $(dpkg-deb -c "$folder/first/liblanescope0_0.1.0_amd64.deb") in *lanescope.h*) fail "the library has a header" ;; esac

"$cmake" -S "$consumer" -B "$folder/consumer" -DCMAKE_PREFIX_PATH="$folder/root/usr" >"$folder/log" 2>&1 || { cat "$folder/log"; exit 1; }
"$cmake" --build "$folder/consumer" >"$folder/log" 2>&1 || { cat "$folder/log"; exit 1; }
"$folder/consumer/consumer" "$trace" | grep -q '^[1-9][0-9]* kernels, ' || fail "the program that was built with the packages reads no kernels"
