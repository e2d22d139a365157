#!/usr/bin/env bash
# rpm.sh VERSION TREE FOLDER [x86_64|aarch64]: makes FOLDER/lanescope-recorder-VERSION-1.x86_64.rpm from what TREE has below usr/, for any distribution with
# glibc 2.28 and RPM. Needs rpmbuild (in Debian's package rpm). It changes TREE.
#
# Times are SOURCE_DATE_EPOCH, so two packages of one tree are equal. The package has no installation scripts. XZ_LEVEL: compression level (9).
set -euo pipefail
here=$(dirname "$(realpath "$0")")
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git -C "$here" log -1 --format=%ct)} LC_ALL=C TZ=UTC
umask 022
version=$1 tree=$(realpath "$2") out=$(realpath "$3") architecture=${4:-x86_64}
mkdir -p "$tree/usr/share/doc/lanescope-recorder"
"$here/licences.py" lanescope-recorder >"$tree/usr/share/doc/lanescope-recorder/copyright"
if [ -d "$tree/usr/share/zsh/vendor-completions" ]; then  # as Debian names the folder, and nobody else
  mv "$tree/usr/share/zsh/vendor-completions" "$tree/usr/share/zsh/site-functions"
fi
find "$tree/usr/share/man" -name '*.1' -exec gzip -9n {} + 2>/dev/null || true
find "$tree" -type d -exec chmod 755 {} + -o -type f -exec chmod u=rwX,go=rX {} +
find "$tree" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# The package's own folders, folders of shells that may not be installed, and all files.
{
  (cd "$tree" && find usr -type d -regextype posix-extended -regex '.*lanescope.*|usr/share/(bash-completion|fish|zsh)(/.*)?' -printf '%%dir "/%p"\n' | sort)
  (cd "$tree" && find usr ! -type d -printf '"/%p"\n' | sort)
} >"$work/files"
cat >"$work/lanescope-recorder.spec" <<END
Name: lanescope-recorder
Version: $version
Release: 1
Summary: Timeline profiler for CUDA programs: recorder and command line
License: Apache-2.0
AutoReqProv: no
Requires: glibc >= 2.28
Recommends: python3
%description
Records what the threads of a program, the CUDA API, GPUs and NVTX ranges do
into .trace files, and prints, compares and exports them.
%install
cp -a "$tree/." "%{buildroot}/"
%files -f $work/files
END
# The files of the tree are not changed: they are neither stripped nor compressed again.
rpmbuild -bb --quiet --target "$architecture" --define "_topdir $work/rpm" --define "_rpmdir $work" --define "_build_id_links none" --define "_buildhost reproducible" \
  --define "use_source_date_epoch_as_buildtime 1" --define "clamp_mtime_to_source_date_epoch 1" --define "_binary_payload w${XZ_LEVEL:-9}.xzdio" --define "__os_install_post %{nil}" \
  --define "debug_package %{nil}" "$work/lanescope-recorder.spec" >"$work/log" 2>&1 || { cat "$work/log" >&2; exit 1; }
mv "$work/$architecture/lanescope-recorder-$version-1.$architecture.rpm" "$out/"
