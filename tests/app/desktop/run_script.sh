#!/usr/bin/env bash
# run_script.sh ROOT LANESCOPE NVTX_PROGRAM: runs the stages of packaging/run.sh and packaging/build.sh, with stand-ins for what installs and compiles.
# shellcheck disable=SC2016  # conditions are evaluated where they are checked
set -u
root=$1 lanescope=$2 program=$3
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failures=0
check() { eval "$2" || { echo "not so: $1"; failures=$((failures + 1)); }; }

mkdir -p "$folder/packaging" "$folder/build/release/bin" "$folder/tests/data" "$folder/stand_ins"
cp "$root/packaging/run.sh" "$root/packaging/build.sh" "$folder/packaging"
printf '#!/bin/sh\n' >"$folder/packaging/install-deps.sh"
chmod +x "$folder/packaging/install-deps.sh"
# A build of 20 steps, or one that fails in its second step.
cat >"$folder/stand_ins/cmake" <<'CMAKE'
#!/bin/sh
[ "$1" = --preset ] && { echo "-- Qt was not found: the viewer is left out"; exit 0; }
[ -n "${BUILD_FAILS:-}" ] && { echo "[1/20] Building one"; echo "FAILED: two"; echo "two.cpp: error"; exit 1; }
for step in $(seq 20); do
  echo "[$step/20] Building $step"
  # Its progress is to be seen before it ends: it waits for who has seen it.
  [ -z "${BUILD_IS_WATCHED:-}" ] || [ "$step" != 2 ] || timeout 60 sh -c 'until [ -e seen ]; do sleep 0.1; done' || { echo "two.cpp: nobody saw it"; exit 1; }
done
CMAKE
chmod +x "$folder/stand_ins/cmake"
ln -s "$lanescope" "$folder/build/release/bin/lanescope"
ln -s "$program" "$folder/build/release/bin/lanescope_program_nvtx_threads"
ln -s "$root/tests/data/torch_loader_samples.trace" "$folder/tests/data/torch_loader_samples.trace"
export PATH="$folder/stand_ins:$PATH"
unset DISPLAY WAYLAND_DISPLAY
cd "$folder" || exit 1

# Progress without a terminal: a line for each tenth, and the duration.
packaging/build.sh release target >said 2>&1
check "the build ends well" '[ $? = 0 ]'
check "each tenth has a line" '[ "$(grep -c "^build: [0-9]* % (" said)" = 10 ]'
check "what is left out is said" 'grep -q "^build: Qt was not found" said'
check "its time is said" 'grep -q "^build: done in [0-9]* s$" said'
# Each line must come at its time, and not when a buffer is full.
BUILD_IS_WATCHED=1 "$folder/packaging/build.sh" release target 2>&1 | while read -r line; do case $line in *"10 % ("*) touch seen ;; *"nobody saw it"*) touch unseen ;; esac; done
check "progress is said while it builds" '[ ! -e unseen ]'
rm -f seen unseen
# With a terminal, progress is updated in place.
if command -v script >/dev/null; then
  script -qec "packaging/build.sh release target" typescript >/dev/null
  check "progress is shown in place" 'grep -q "build: 20 of 20 steps" typescript && ! grep -q "100 % (" typescript'
fi
BUILD_FAILS=1 packaging/build.sh release target >said 2>&1
check "a failure is one" '[ $? = 1 ]'
check "it is shown whole, without steps" 'grep -q "two.cpp: error" said && ! grep -q "Building one" said'

# All stages, each with its time, and how to open the viewer if it is not built or there is no display.
packaging/run.sh >said 2>&1
check "it ends well" '[ $? = 0 ]'
for stage in "installing what is missing" "building" "profiling" "reading what was recorded" "done"; do
  check "stage: $stage" 'grep -q "^run:  *[0-9]*:[0-9][0-9]  $stage" said'
done
check "without a viewer, a report is named" 'grep -q "The viewer was not built.*lanescope report" said'
check "what comes next is said" 'grep -q "^run: next, your own program: " said'
check "nothing is said of a toolkit where there is no GPU" '! grep -q "CUDA toolkit" said'
# A GPU whose work the build can't record must not be reported as missing.
printf '#!/bin/sh\necho "GPU 0: stand-in"\n' >stand_ins/nvidia-smi
chmod +x stand_ins/nvidia-smi
packaging/run.sh >said 2>&1
check "a GPU without a toolkit is told" 'grep -q "there is a GPU here, and no CUDA toolkit" said && grep -q "only uses NVTX is profiled" said'
packaging/run.sh "$program" >said 2>&1
check "it is told of the user's program as well" 'grep -q "there is a GPU here, and no CUDA toolkit" said'
mkdir -p build/release/lib
touch build/release/lib/liblanescope-kernels.so
packaging/run.sh "$program" >said 2>&1
check "and not with one" '! grep -q "CUDA toolkit" said'
rm stand_ins/nvidia-smi report*.trace
printf '#!/bin/sh\necho viewer "$@"\n' >build/release/bin/lanescope-ui
chmod +x build/release/bin/lanescope-ui
packaging/run.sh "$program" >said 2>&1
check "without a display, how to open it" 'grep -q "There is no display here.*lanescope-ui .*report1.trace" said && grep -q -- "--screenshot" said'
DISPLAY=:9 packaging/run.sh "$program" >said 2>&1
check "with one, it opens" 'grep -q "^viewer .*report2.trace" said'
exit $((failures > 0))
