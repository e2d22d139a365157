#!/usr/bin/env bash
# install-deps.sh [PACKAGE...]: installs what Lanescope is built with, and these packages, on Debian 12 or Ubuntu 24.04. Does nothing if everything is
# installed already.
#
# Without apt (another distribution, a machine with no network) it says so and succeeds: the build then names what is missing.
set -euo pipefail
case "${1:-}" in -h | --help) exec sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0" ;; esac
export HOME=${HOME:-$(getent passwd "$(id -u)" | cut -d: -f6)}

packages=(
  build-essential cmake ninja-build pkg-config ccache lld
  protobuf-compiler libprotobuf-dev libprotozero-dev libzstd-dev libxxhash-dev zlib1g-dev libsqlite3-dev libsimdjson-dev
  libcli11-dev nlohmann-json3-dev catch2 libdw-dev
  qt6-base-dev libqt6opengl6-dev qt6-svg-dev libgl1-mesa-dev fonts-dejavu-core
  shared-mime-info xdg-utils libglib2.0-bin libfile-mimeinfo-perl desktop-file-utils xvfb
  python3 python3-numpy python3-protobuf python3-xxhash python3-zstandard
)
# Qt Charts' package has this name on both, and another one on newer releases.
charts=(qt6-charts-dev libqt6charts6-dev)

# A package counts as installed under its own name, or if another package provides it, because newer releases merge some packages.
installed() {
  dpkg-query -W -f='${db:Status-Abbrev}' "$1" 2>/dev/null | grep '^ii' >/dev/null ||
    dpkg-query -W -f='${db:Status-Abbrev} ${Provides}\n' 2>/dev/null | grep -E "^ii.*[ ,]$1( |,|\$)" >/dev/null
}

missing=()
if ! command -v apt-get >/dev/null; then
  echo "install-deps: no apt-get here; install the packages named in packaging/install-deps.sh with your system's tools." >&2
  packages=() charts=()
  set --
fi
for package in "${packages[@]}" "$@"; do installed "$package" || missing+=("$package"); done
[ ${#charts[@]} = 0 ] || installed "${charts[0]}" || installed "${charts[1]}" || missing+=("${charts[0]}")

if [ ${#missing[@]} -gt 0 ]; then
  as_root=(env DEBIAN_FRONTEND=noninteractive)
  [ "$(id -u)" = 0 ] || as_root=(sudo "${as_root[@]}")  # sudo passes no variables on
  echo "install-deps: installing ${#missing[@]} packages, which takes minutes: ${missing[*]}"
  if ! { "${as_root[@]}" apt-get update -qq && "${as_root[@]}" apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null; }; then
    echo "install-deps: apt could not install everything; going on with what is there (without Qt, the viewer is left out)." >&2
  fi
fi

# NVTX consists of headers only. The CUDA toolkit has them; without one they come from NVIDIA's Python package.
have_nvtx() {
  local root
  for root in "${CUDA_HOME:-/nonexistent}" /usr/local/cuda /usr "$HOME/.cache/lanescope"; do
    [ -e "$root/include/nvtx3/nvToolsExt.h" ] || [ -e "$root/targets/x86_64-linux/include/nvtx3/nvToolsExt.h" ] && return 0
  done
  return 1
}
if ! have_nvtx; then
  echo "install-deps: no CUDA toolkit here; fetching the NVTX headers (PyPI: nvidia-nvtx)"
  folder=$(mktemp -d)
  trap 'rm -rf "$folder"' EXIT
  python3 -m pip --version >/dev/null 2>&1 || ${as_root[@]+"${as_root[@]}"} apt-get install -y -qq python3-pip >/dev/null || true
  if ! python3 -m pip download -q --no-deps -d "$folder" nvidia-nvtx; then
    echo "install-deps: they could not be fetched; going on without them (the build names what is missing)." >&2
    exit 0
  fi
  python3 - "$folder" "$HOME/.cache/lanescope" <<'PY'
import glob, os, sys, zipfile
wheel = glob.glob(os.path.join(sys.argv[1], "*.whl"))[0]
with zipfile.ZipFile(wheel) as archive:
    for name in archive.namelist():
        at = name.find("include/nvtx3/")
        if at >= 0 and not name.endswith("/"):
            target = os.path.join(sys.argv[2], name[at:])
            os.makedirs(os.path.dirname(target), exist_ok=True)
            with open(target, "wb") as out:
                out.write(archive.read(name))
PY
fi
