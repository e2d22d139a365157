#!/usr/bin/env bash
# recorder_rpm.sh CMAKE BUILD PACKAGING: makes the recorder's RPM package of a build twice; both must be equal. Unpacks it, and records with
# its contents. Exit code 77 (skipped) if the tools for it are missing.
set -euo pipefail
cmake=$1 build=$2 packaging=$3
for tool in rpm rpmbuild rpm2cpio cpio; do command -v $tool >/dev/null || { echo "there is no $tool"; exit 77; }; done
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
fail() { echo "$1"; exit 1; }
"$cmake" --install "$build" --prefix "$folder/tree/usr" --component recorder >"$folder/log" || { cat "$folder/log"; exit 1; }
find "$folder/tree" -type f \( -path '*/bin/*' -o -name '*.so' \) -exec strip --strip-unneeded {} + 2>/dev/null || true
mkdir -p "$folder/tree/usr/share/zsh/vendor-completions" "$folder/tree/usr/share/fish/vendor_completions.d"  # what packaging/command_pages.py makes of the help
touch "$folder/tree/usr/share/zsh/vendor-completions/_lanescope" "$folder/tree/usr/share/fish/vendor_completions.d/lanescope.fish"
export SOURCE_DATE_EPOCH=1700000000 XZ_LEVEL=1
for copy in first second; do
  cp -a "$folder/tree" "$folder/$copy-tree"
  mkdir "$folder/$copy"
  "$packaging/rpm.sh" 0.1.0 "$folder/$copy-tree" "$folder/$copy"
done
file=lanescope-recorder-0.1.0-1.x86_64.rpm
cmp "$folder/first/$file" "$folder/second/$file" || fail "made twice, the package is not the same"
cp -a "$folder/tree" "$folder/arm-tree"
"$packaging/rpm.sh" 0.1.0 "$folder/arm-tree" "$folder/first" aarch64
[ "$(rpm -qp --qf '%{ARCH}' "$folder/first/lanescope-recorder-0.1.0-1.aarch64.rpm")" = aarch64 ] || fail "the package for 64-bit Arm is for another processor"
[ -z "$(rpm -qp --scripts "$folder/first/$file")" ] || fail "a script runs when it is installed"
rpm -qp --requires "$folder/first/$file" | grep -qx 'glibc >= 2.28' || fail "it does not say which C library it needs"

mkdir "$folder/root"
(cd "$folder/root" && rpm2cpio "$folder/first/$file" | cpio -idm --quiet) || fail "it can't be unpacked"
"$folder/root/usr/bin/lanescope" --version | grep -q '0\.1\.0' || fail "the program does not start"
"$folder/root/usr/bin/lanescope" profile -t nvtx -s none --cpuctxsw none -o "$folder/x" true >/dev/null 2>&1 || fail "it does not record"
expected=$(cd "$folder/root" && find usr \( -type f -o -type l \) -printf '/%p\n' | sort)
listed=$(rpm -qp --qf '[%{FILEMODES:perms} %{FILENAMES}\n]' "$folder/first/$file" | grep -v '^d' | cut -d' ' -f2- | sort)
[ "$expected" = "$listed" ] || fail "it names other files than it holds"

# After it is installed into a bare root and removed again, nothing is left behind. It is refused beside a C library that is too old, or without one.
mkdir "$folder/bare"
bare() { rpm --root "$folder/bare" --dbpath /var/lib/rpm "$@"; }
bare --initdb
files() { (cd "$folder/bare" && find . -path ./var -prune -o -print | sort); }
files >"$folder/before"
! bare -i "$folder/first/$file" 2>"$folder/said" || fail "it is installed where there is no C library"
grep -q 'glibc >= 2.28 is needed' "$folder/said" || fail "it is refused for another reason: $(cat "$folder/said")"
bare -i --nodeps "$folder/first/$file"
bare -V --nodeps lanescope-recorder || fail "what is installed is not what the package says"
bare -e lanescope-recorder
files >"$folder/after"
# Folders of the system, which packages of every distribution own.
left=$(comm -13 "$folder/before" "$folder/after" | grep -vxE '\./usr(/bin|/lib|/share(/doc|/man(/man1)?)?)?' || true)
[ -z "$left" ] || fail "it leaves behind: $left"
