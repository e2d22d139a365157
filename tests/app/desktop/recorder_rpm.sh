#!/usr/bin/env bash
# recorder_rpm.sh CMAKE BUILD PACKAGING: makes the recorder's RPM package of a build twice, which is the same, unpacks it, and records with
# what is in it. Exit code 77 (skipped) where there are no tools for it.
set -euo pipefail
cmake=$1 build=$2 packaging=$3
for tool in rpm rpmbuild rpm2cpio cpio; do command -v $tool >/dev/null || exit 77; done
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
fail() { echo "$1"; exit 1; }
"$cmake" --install "$build" --prefix "$folder/tree/usr" --component recorder >"$folder/log" || { cat "$folder/log"; exit 1; }
find "$folder/tree" -type f \( -path '*/bin/*' -o -name '*.so' \) -exec strip --strip-unneeded {} + 2>/dev/null || true
export SOURCE_DATE_EPOCH=1700000000
for copy in first second; do
  cp -a "$folder/tree" "$folder/$copy-tree"
  mkdir "$folder/$copy"
  "$packaging/rpm.sh" 0.1.0 "$folder/$copy-tree" "$folder/$copy"
done
file=lanescope-recorder-0.1.0-1.x86_64.rpm
cmp "$folder/first/$file" "$folder/second/$file" || fail "made twice, the package is not the same"
[ -z "$(rpm -qp --scripts "$folder/first/$file")" ] || fail "a script runs when it is installed"
rpm -qp --requires "$folder/first/$file" | grep -qx 'glibc >= 2.28' || fail "it does not say which C library it needs"

mkdir "$folder/root"
(cd "$folder/root" && rpm2cpio "$folder/first/$file" | cpio -idm --quiet) || fail "it can't be unpacked"
"$folder/root/usr/bin/lanescope" --version | grep -q '0\.1\.0' || fail "the program does not start"
"$folder/root/usr/bin/lanescope" profile -t nvtx -s none --cpuctxsw none -o "$folder/x" true >/dev/null 2>&1 || fail "it does not record"
expected=$(cd "$folder/root" && find usr \( -type f -o -type l \) -printf '/%p\n' | sort)
listed=$(rpm -qp --qf '[%{FILEMODES:perms} %{FILENAMES}\n]' "$folder/first/$file" | grep -v '^d' | cut -d' ' -f2- | sort)
[ "$expected" = "$listed" ] || fail "it names other files than it holds"
