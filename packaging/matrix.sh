#!/usr/bin/env bash
# matrix.sh [FOLDER] [SYSTEM...]: installs the packages of FOLDER (build/packages) into bare roots of Debian 11, 12, 13 and Ubuntu 22.04, 24.04, 26.04,
# records a program with NVTX ranges there, prints what was recorded, and removes them again; it prints one line per package and system. The viewer and the C
# interface, if FOLDER has them, are installed with apt on Debian 12 and Ubuntu 24.04. The viewer draws a recorded trace, and its window opens on an X
# server (if Xvfb and xdotool are installed). A program in C, built there by find_package(Lanescope) and by pkg-config, reads it. The viewer's archive does the
# same in roots with glibc 2.36 and newer, in which nothing else is installed; if one of two archives side by side is removed, the other one stays whole; FOLDER
# may have the archive of an older version, too, which is then the second. The
# .rpm, if rpm is installed, is put into these roots by rpm --root, and by dnf --installroot if dnf and createrepo_c are installed. The root of an RPM
# distribution can't be made from Debian's archive.
#
# Needs root, debootstrap, a network, and the Zig that packaging/package.sh fetches. SYSTEM is for example debian-11. The program is
# tests/programs/nvtx/nvtx_threads.cpp, linked against the C library of glibc 2.28, so that one program runs on all systems. Roots are kept in
# ~/.cache/lanescope/roots. The exit code is 1 if a package did not do what it should, or could not be tried.
set -euo pipefail
case "${1:-}" in -h | --help) exec sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0" ;; esac
cd "$(dirname "$0")/.."
refuse() { echo "matrix: $*" >&2; exit 2; }
packages=$(realpath -m -- "${1:-build/packages}")
[ $# -gt 0 ] && shift
declare -A suites=([debian-11]=bullseye [debian-12]=bookworm [debian-13]=trixie [ubuntu-22.04]=jammy [ubuntu-24.04]=noble [ubuntu-26.04]=resolute)
systems=("$@")
[ $# -gt 0 ] || systems=(debian-11 debian-12 debian-13 ubuntu-22.04 ubuntu-24.04 ubuntu-26.04)
for system in "${systems[@]}"; do
  [ -n "${suites[$system]:-}" ] || refuse "$system is none of the systems that are known: $(printf '%s\n' "${!suites[@]}" | sort | xargs)"
done
[ -n "$(find "$packages" -maxdepth 1 -name '*lanescope*' -type f -print -quit 2>/dev/null)" ] || refuse "$packages has no packages; make them with packaging/package.sh"
[ "$(id -u)" = 0 ] || refuse "it makes root file systems and enters them, so run it as root"
for tool in debootstrap chroot mount g++ gcc; do command -v $tool >/dev/null || refuse "$tool is not installed, and needed"; done
export HOME=${HOME:-$(getent passwd "$(id -u)" | cut -d: -f6)}
cache=$HOME/.cache/lanescope
zig=$cache/portable/ziglang/zig
[ -x "$zig" ] || refuse "$zig is not there; packaging/package.sh fetches it"
nvtx=$(for root in "${CUDA_HOME:-/nonexistent}" /usr/local/cuda /usr/local/cuda/targets/x86_64-linux /usr "$cache"; do
  [ ! -e "$root/include/nvtx3/nvToolsExt.h" ] || { echo "$root/include"; break; }; done)
[ -n "$nvtx" ] || refuse "the NVTX headers are not there; packaging/install-deps.sh fetches them"
work=$(mktemp -d)
drop() { for at in proc dev; do umount -l "$work/root/$at" 2>/dev/null || true; done; rm -rf --one-file-system "$work/root"; }
cleanup() { drop; umount -l "$work/made/proc" "$work/made/sys" 2>/dev/null || true; rm -rf --one-file-system "$work"; }
trap cleanup EXIT
code=0
program=$work/nvtx_threads
g++ -O1 -std=c++20 -I "$nvtx" -c tests/programs/nvtx/nvtx_threads.cpp -o "$work/program.o"
gcc -O1 -c packaging/portable/c_library.c -o "$work/c_library.o"
"$zig" cc -target x86_64-linux-gnu.2.28 "$work/program.o" "$work/c_library.o" -nostdlib++ "$(gcc -print-file-name=libstdc++.a)" \
  "$(gcc -print-file-name=libgcc_eh.a)" "$(gcc -print-file-name=libgcc.a)" -lpthread -ldl -lm -o "$program"

# make_root SYSTEM FILE: a bare root as an archive, which is there only when it is whole. A mirror that does not answer is given up after half an hour.
make_root() {
  local suite=${suites[$1]} mirror=http://deb.debian.org/debian script=sid extra=()
  if [[ $1 = ubuntu-* ]]; then mirror=http://archive.ubuntu.com/ubuntu script=gutsy extra=(--no-check-gpg); fi
  script=/usr/share/debootstrap/scripts/$script  # for suites that are newer than debootstrap
  [ ! -e "/usr/share/debootstrap/scripts/$suite" ] || script=/usr/share/debootstrap/scripts/$suite
  mkdir -p "$(dirname "$2")" &&
    timeout 1800 debootstrap --variant=minbase "${extra[@]}" "$suite" "$work/made" "$mirror" "$script" >"$work/log" 2>&1 &&
    tar czf "$2.new" -C "$work/made" . 2>>"$work/log" && mv "$2.new" "$2"
}
base() {  # SYSTEM: unpacks its root, which is made once and kept
  local kept=$cache/roots/${suites[$1]}.tar.gz made=0
  : >"$work/log"
  [ -f "$kept" ] || make_root "$1" "$kept" || made=$?
  rm -rf --one-file-system "$work/made" "$kept.new"
  [ $made = 0 ] && mkdir -p "$work/root" && { tar xzf "$kept" -C "$work/root" 2>>"$work/log" || { rm -f "$kept"; false; }; } &&
    mkdir -p "$work/root/proc" "$work/root/dev" && mount --bind /proc "$work/root/proc" 2>>"$work/log" && mount --bind /dev "$work/root/dev" 2>>"$work/log" &&
    cp "$program" "$work/root/usr/local/bin/nvtx_threads" && return 0
  tail -3 "$work/log" | sed 's/^/    /' >&2
  drop
  return 1
}
with_archive() {  # SYSTEM
  cp /etc/resolv.conf "$work/root/etc/resolv.conf"
  [[ $1 != ubuntu-* ]] || echo "deb http://archive.ubuntu.com/ubuntu ${suites[$1]} main universe" >"$work/root/etc/apt/sources.list"
  inside apt-get -o Acquire::AllowInsecureRepositories=true update -qq
}
with_python() {  # SYSTEM
  with_archive "$1"
  inside apt-get install -y -qq --no-install-recommends --allow-unauthenticated python3-venv
}
inside() { chroot "$work/root" env -i PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/tmp/home LC_ALL=C DEBIAN_FRONTEND=noninteractive "$@"; }
files() { (cd "$work/root" && find . -path ./proc -prune -o -path ./dev -prune -o -path ./tmp -prune -o -path ./var -prune -o -print | sort); }

# recorded PROGRAM: whether the recorder records the 1,642 ranges that the program and its child make by nesting, and prints them.
recorded() {
  inside sh -c "cd /tmp && $1 profile -t nvtx -s none --cpuctxsw none -f -o x nvtx_threads >/dev/null 2>said && $1 stats -q -r nvtx_sum x.trace >/dev/null && $1 info x.trace" \
    >"$work/info" 2>&1 && grep -Eq 'NVTX push/pop ranges +1,642$' "$work/info"
}

# An empty package that stands for the C library of a system, because no RPM package owns the C library of the roots: STAND_IN VERSION makes
# $work/repository/glibc-VERSION...
stand_in() {
  mkdir -p "$work/repository"
  printf 'Name: glibc\nVersion: %s\nRelease: 1\nSummary: Stands for the C library\nLicense: none\nBuildArch: noarch\n%%description\nIt has no files.\n%%files\n' "$1" >"$work/glibc.spec"
  rpmbuild -bb --quiet --define "_topdir $work/rpmbuild" --define "_rpmdir $work" "$work/glibc.spec" >"$work/log" 2>&1 && mv "$work/noarch/glibc-$1-1.noarch.rpm" "$work/repository/"
}
root_rpm() { rpm --root "$work/root" --dbpath /var/lib/rpm "$@"; }
root_dnf() {
  HOME=$work dnf -q -y --installroot "$work/root" --releasever 1 --disablerepo '*' --repofrompath "here,$work/repository" --setopt=reposdir= --setopt=cachedir="$work/cache" \
    --setopt=here.gpgcheck=0 --setopt=tsflags= --setopt=logdir=/var/log "$@"
}
install_rpm() {  # FILE: refused beside a C library that is too old, then installed
  rm -rf "$work/root/var/lib/rpm" "$work/repository"
  root_rpm --initdb
  stand_in 2.27 && root_rpm -i "$work/repository/glibc-2.27-1.noarch.rpm"
  if root_rpm -i "$1" 2>"$work/said" || ! grep -q 'glibc >= 2.28 is needed' "$work/said"; then echo "it is installed beside glibc 2.27"; return 1; fi
  stand_in "$(inside ldd --version | sed -n '1s/.* //p')" && root_rpm -U "$work"/repository/glibc-2.[3-9]*.rpm && root_rpm -i "$1" && root_rpm -V lanescope-recorder
}
install_by_dnf() {  # FILE
  rm -rf "$work/root/var/lib/rpm" "$work/repository" "$work/cache"
  echo '%_dbpath /var/lib/rpm' >"$work/.rpmmacros"  # Debian's rpm has it in the home of a user
  stand_in "$(inside ldd --version | sed -n '1s/.* //p')" && cp "$1" "$work/repository/" && createrepo_c -q "$work/repository" && root_dnf install lanescope-recorder && root_rpm -V lanescope-recorder
}

# tenths: the time in tenths of a second. since TENTHS: the seconds since then, with one decimal.
tenths() { echo $((${EPOCHREALTIME/[.,]/} / 100000)); }
since() { local passed=$(($(tenths) - $1)); echo "$((passed / 10)).$((passed % 10))"; }

# judge RESULT REMOVED: remembers that a package did not do what it should, or left something behind.
judge() { [[ $1 = recorded || $1 = "drew a trace, "* && $1 != *not* ]] && [ "$2" = removed ] || code=1; }

try() {  # SYSTEM KIND FILE
  local system=$1 kind=$2 file=$3 command=lanescope begin seconds glibc result=recorded
  begin=$(tenths)
  files >"$work/before"
  cp "$file" "$work/root/tmp/"
  case $kind in
    tar.gz) inside mkdir -p /opt/lanescope && inside tar xzf "/tmp/$(basename "$file")" -C /opt/lanescope --strip-components=1 && command=/opt/lanescope/bin/lanescope ;;
    deb) inside dpkg -i --no-triggers "/tmp/$(basename "$file")" >"$work/log" 2>&1 || result="not installed" ;;
    rpm) install_rpm "$file" >"$work/log" 2>&1 || result="not installed" ;;
    dnf) install_by_dnf "$file" >"$work/log" 2>&1 || result="not installed" ;;
    whl) inside sh -c "python3 -m venv /opt/venv && /opt/venv/bin/pip install -q --no-deps /tmp/$(basename "$file")" >"$work/log" 2>&1 && command=/opt/venv/bin/lanescope || result="not installed" ;;
  esac
  [ "$result" = recorded ] && { recorded "$command" || result="did not record"; }
  case $kind in
    tar.gz) inside rm -rf /opt/lanescope ;;
    deb) inside dpkg -P lanescope-recorder >/dev/null 2>&1 || true ;;
    rpm) root_rpm -e lanescope-recorder >/dev/null 2>&1 || true ;;
    dnf) root_dnf remove lanescope-recorder >/dev/null 2>&1 || true; rm -rf "$work/root/etc/dnf" ;;  # which is dnf's own
    whl) inside rm -rf /opt/venv ;;
  esac
  files >"$work/after"
  seconds=$(since "$begin")
  glibc=$(inside ldd --version | sed -n '1s/.* //p')
  local removed=removed
  cmp -s "$work/before" "$work/after" || removed="left $(comm -13 "$work/before" "$work/after" | head -3 | tr '\n' ' ')"
  judge "$result" "$removed"
  printf '| %s | %s | %s | %s | %s | %s s |\n' "$system (glibc $glibc)" "$(basename "$file")$([ "$kind" != dnf ] || echo ', by dnf')" "$(du -b "$file" | cut -f1)" "$result" "$removed" "$seconds"
  if [ "$result" != recorded ]; then
    for said in "$work/log" "$work/info" "$work/root/tmp/said"; do [ -f "$said" ] && tail -3 "$said" | sed 's/^/    /' >&2; done
  fi
  return 0
}

# opens_window PROGRAM: whether the viewer in the root opens a window with the trace's name on an X server of this machine. Succeeds without a check if tools
# are missing.
opens_window() {
  local server shown=1 viewer
  command -v Xvfb >/dev/null && command -v xdotool >/dev/null || return 0
  : >"$work/display"
  Xvfb -displayfd 3 -screen 0 1280x800x24 -nolisten tcp 3>"$work/display" >/dev/null 2>&1 & server=$!
  timeout 60 sh -c "until grep -q . '$work/display'; do sleep 0.1; done" || { kill $server; return 1; }
  chroot "$work/root" env -i PATH=/usr/bin:/bin HOME=/tmp/home LC_ALL=C.UTF-8 DISPLAY="unix:$(cat "$work/display")" QT_QPA_PLATFORM=xcb "$1" /tmp/cuda_streams.trace & viewer=$!
  DISPLAY=:$(cat "$work/display") timeout 60 sh -c 'until xdotool search --onlyvisible --name cuda_streams; do kill -0 '$viewer' || exit 1; sleep 0.2; done' && shown=0
  kill $viewer $server 2>/dev/null
  wait $viewer $server 2>/dev/null || true
  return $shown
}

# The viewer draws a trace, and a program that is built there with the packages reads it.
try_viewer() {  # SYSTEM
  local system=$1 begin seconds result="drew a trace, read by C" removed=removed file bytes=0
  begin=$(tenths)
  for file in "$packages"/*_amd64.deb; do
    cp "$file" "$work/root/tmp/"
    bytes=$((bytes + $(stat -c %s "$file")))
  done
  cp -a tests/app/library/consumer "$work/root/tmp/"
  cp tests/data/cuda_streams.trace "$work/root/tmp/"
  if ! { with_archive "$system" && inside sh -c 'apt-get install -y -qq --no-install-recommends --allow-unauthenticated /tmp/*.deb'; } >"$work/log" 2>&1; then
    result="not installed"
    tail -5 "$work/log" | sed 's/^/    /' >&2
  elif ! inside sh -c 'cd /tmp && lanescope-ui cuda_streams.trace --screenshot x.png && head -c 4 x.png | grep -q PNG' >"$work/log" 2>&1 || ! opens_window lanescope-ui >"$work/log" 2>&1; then
    result="did not draw"
    tail -5 "$work/log" | sed 's/^/    /' >&2
  elif ! { inside sh -c 'rm /tmp/*.deb; apt-get install -y -qq --no-install-recommends --allow-unauthenticated gcc libc6-dev cmake make pkg-config' && inside sh -c '
    cd /tmp && cmake -S consumer -B built && cmake --build built && cc consumer/consumer.c $(pkg-config --cflags --libs lanescope) -o by_pkg_config &&
    for program in built/consumer ./by_pkg_config; do $program cuda_streams.trace | grep "^[1-9].* kernels" || exit 1; done'; } >"$work/log" 2>&1; then
    result="drew a trace, could not be read by C"
    tail -5 "$work/log" | sed 's/^/    /' >&2
  fi
  inside dpkg -P lanescope liblanescope-dev liblanescope0 lanescope-recorder >/dev/null 2>&1 || true
  inside find / -xdev -path /tmp -prune -o -name '*lanescope*' -print | grep . >"$work/left" && removed="left $(head -3 "$work/left" | tr '\n' ' ')"
  seconds=$(since "$begin")
  judge "$result" "$removed"
  printf '| %s | %s | %s | %s | %s | %s s |\n' "$system (glibc $(inside ldd --version | sed -n '1s/.* //p'))" "viewer, recorder, library, headers (.deb)" "$bytes" "$result" "$removed" "$seconds"
}

# The viewer's archive, in a root without Qt, X or fonts.
try_archive() {  # SYSTEM FILE OLDER
  local system=$1 file=$2 older=$3 begin seconds result="drew a trace, recorded" removed=removed
  begin=$(tenths)
  files >"$work/before"
  inside mkdir -p /opt
  cp "$file" tests/data/cuda_streams.trace "$work/root/tmp/"
  tar xJf "$file" -C "$work/root/opt"
  local place
  place=/opt/$(basename "$file" .tar.xz)
  if ! inside sh -c "cd /tmp && $place/bin/lanescope-ui cuda_streams.trace --screenshot x.png && head -c 4 x.png | grep -q PNG" >"$work/log" 2>&1; then
    result="did not draw"
    tail -5 "$work/log" | sed 's/^/    /' >&2
  elif ! recorded "$place/bin/lanescope"; then
    result="did not record"
  elif ! opens_window "$place/lanescope-ui" >"$work/log" 2>&1; then
    result="opened no window"
    tail -5 "$work/log" | sed 's/^/    /' >&2
  fi
  # A second archive beside it, of another version if there is one, must still work after the first is removed.
  local beside=$place-other
  if [ -n "$older" ]; then
    tar xJf "$older" -C "$work/root/opt"
    beside=/opt/$(basename "$older" .tar.xz)
    result="$result, beside $(basename "$older" -linux-x86_64.tar.xz)"
  else
    inside cp -a "$place" "$beside"
  fi
  inside rm -rf "$place"
  if ! inside sh -c "cd /tmp && rm x.png && $beside/lanescope-ui cuda_streams.trace --screenshot x.png && head -c 4 x.png | grep -q PNG" >"$work/log" 2>&1; then result="did not draw beside another"; fi
  inside rm -rf "$beside"
  files >"$work/after"
  seconds=$(since "$begin")
  cmp -s "$work/before" "$work/after" || removed="left $(comm -13 "$work/before" "$work/after" | head -3 | tr '\n' ' ')"
  judge "$result" "$removed"
  printf '| %s | %s | %s | %s | %s | %s s |\n' "$system (glibc $(inside ldd --version | sed -n '1s/.* //p'))" "$(basename "$file")" "$(du -b "$file" | cut -f1)" "$result" "$removed" "$seconds"
}

# found PATTERN: packages of these names, the newest version last. newest PATTERN: that one alone, or nothing.
found() { find "$packages" -maxdepth 1 -name "$1" | sort -V; }
newest() { found "$1" | tail -1; }

echo '| system | package | bytes | what it did | afterwards | time |'
echo '|---|---|---|---|---|---|'
for system in "${systems[@]}"; do
  base "$system" || { echo "| $system | | | its root could not be made | | |"; code=1; continue; }
  tarball=$(newest 'lanescope-recorder-[0-9]*-linux-x86_64.tar.gz') wheel=$(newest 'lanescope-[0-9]*_x86_64.whl')
  [ -z "$tarball" ] || try "$system" tar.gz "$tarball"
  deb=$(newest 'lanescope-recorder_*_amd64.deb')
  [ -z "$deb" ] || try "$system" deb "$deb"
  rpm=$(newest 'lanescope-recorder-*.x86_64.rpm')
  if [ -n "$rpm" ] && command -v rpmbuild >/dev/null; then
    try "$system" rpm "$rpm"
    if command -v dnf >/dev/null && command -v createrepo_c >/dev/null; then try "$system" dnf "$rpm"; fi
  fi
  viewer=$(newest 'lanescope-[0-9]*-linux-x86_64.tar.xz')
  older=$(found 'lanescope-[0-9]*-linux-x86_64.tar.xz' | grep -vxF "$viewer" | tail -1 || true)
  if [ -n "$viewer" ] && [[ $system = debian-1[23] || $system = ubuntu-24.04 ]]; then try_archive "$system" "$viewer" "$older"; fi
  if [ -z "$wheel" ]; then
    :
  elif with_python "$system" >"$work/log" 2>&1; then
    try "$system" whl "$wheel"
  else
    echo "| $system | the wheel | | no python3-venv could be installed | | |"
    code=1
  fi
  drop
  if [[ $system = debian-12 || $system = ubuntu-24.04 ]] && [ -n "$(find "$packages" -name 'lanescope_*_amd64.deb')" ]; then
    base "$system" || { code=1; continue; }
    try_viewer "$system"
    drop
  fi
done
exit $code
