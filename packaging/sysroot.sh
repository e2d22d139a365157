#!/usr/bin/env bash
# sysroot.sh FOLDER: puts into FOLDER what the recorder is linked with on aarch64: headers and libraries of Debian 12's packages, unpacked. Nothing is
# installed, and apt's state of this machine is not changed. Needs apt, dpkg-deb and a network.
set -euo pipefail
case "${1:-}" in -h | --help) exec sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0" ;; esac
[ $# = 1 ] || { echo "sysroot: which folder? See: packaging/sysroot.sh --help" >&2; exit 2; }
root=$(realpath -m -- "$1")
mirror=http://deb.debian.org/debian
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
packages=(libc6-dev libstdc++-12-dev linux-libc-dev libprotobuf-dev libzstd-dev libxxhash-dev libsqlite3-dev zlib1g-dev libdw-dev libelf-dev liblzma-dev
  libbz2-dev nlohmann-json3-dev libcli11-dev libprotozero-dev)
mkdir -p "$work/state/lists/partial" "$work/cache/archives/partial" "$work/etc" "$work/none"
touch "$work/status"
echo "deb $mirror bookworm main" >"$work/etc/sources.list"
cat >"$work/apt.conf" <<END
APT::Architecture "arm64";
APT::Architectures { "arm64"; };
Dir::State "$work/state";
Dir::State::status "$work/status";
Dir::Cache "$work/cache";
Dir::Etc::sourcelist "$work/etc/sources.list";
Dir::Etc::sourceparts "$work/none";
Dir::Etc::main "$work/none/apt.conf";
Dir::Etc::parts "$work/none";
Dir::Etc::preferencesparts "$work/none";
APT::Install-Recommends "false";
APT::Sandbox::User "root";
END
export APT_CONFIG=$work/apt.conf
apt-get -qq update
apt-get -qq -y --download-only install "${packages[@]}" >/dev/null
rm -rf "$root.new"
mkdir -p "$root.new"
for package in "$work"/cache/archives/*.deb; do dpkg-deb -x "$package" "$root.new"; done
# Makes absolute links lead into the folder.
find "$root.new" -type l -lname '/*' | while read -r link; do ln -sfn --relative "$root.new$(readlink "$link")" "$link"; done
rm -rf "$root"
mv "$root.new" "$root"
