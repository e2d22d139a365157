#!/usr/bin/env bash
# nightly.sh [HOURS]: runs what takes too long for every change, with HOURS of fuzzing (8) and about four hours for the rest. Prints what failed, and goes on.
#
# Each public header compiled by itself; all tests under the address and undefined behaviour sanitizers, then under the thread sanitizer; every test as built
# for development, three times, beside a busy neighbour; hostile files through every command; recordings cut at many places; the recorder's memory; stress;
# fuzzing.
set -uo pipefail
case "${1:-}" in -h | --help) exec sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0" ;; esac
root=$(cd "$(dirname "$0")/.." && pwd)
cd "$root"
hours=${1:-8}
[[ $hours =~ ^[0-9]+$ ]] || { echo "nightly: $hours is no number of hours" >&2; exit 2; }
export QT_QPA_PLATFORM=offscreen
failed=()
part() {  # part NAME COMMAND...
  local name=$1
  shift
  echo "nightly: $name"
  "$@" || failed+=("$name")
}

# The agent, which enters other programs, is never instrumented (cmake/LanescopeOptions.cmake).
for preset in asan tsan; do
  part "$preset build" packaging/build.sh "$preset"
  part "$preset" ctest --preset "$preset" --parallel "$(nproc)" --no-tests=error --timeout 1800
done

part "release build" packaging/build.sh release lanescope_with_programs lanescope_c  # several sources at once: names that two of them have tell
part "dev build" packaging/build.sh dev
part "each header by itself" packaging/build.sh dev all_verify_interface_header_sets
sh -c 'while :; do :; done' &
neighbour=$!
trap 'kill "$neighbour" 2>/dev/null' EXIT
part "tests beside a busy neighbour" ctest --preset dev --parallel "$(nproc)" --no-tests=error --repeat until-fail:3
kill "$neighbour" 2>/dev/null

part "translations" packaging/texts.py --check --complete
part "texts of the window" env LANESCOPE_ALL_TEXTS=1 build/dev/bin/test_gui_language
part "recordings that are cut" env LANESCOPE_TEST_CUTS=50 build/dev/bin/test_compact
part "memory of long recordings" env LANESCOPE_TEST_EVENTS=200000000 build/dev/bin/test_cli_memory
part "memory of a recording that is drawn live" env LANESCOPE_TEST_EVENTS=50000000 build/dev/bin/test_live_memory
part "commands without memory" tests/hostile/failing_allocations.py --programs build/dev/bin --data tests/data --runs 2000 --seed "$RANDOM"
part "stress" tests/e2e/stress.sh build/dev/bin/lanescope build/dev/bin/lanescope_program_stress 600
part "every way to live and end" build/dev/bin/test_lifecycle --all
part "real programs" python3 tests/interop/real_programs.py build/dev/bin/lanescope
part "memory of the recorder" python3 tests/soak/soak.py --lanescope build/dev/bin/lanescope --stream build/dev/bin/lanescope_program_nvtx_stream \
  --seconds 3600 --processes 10000
part "memory of the viewer" python3 tests/soak/gestures.py --viewer build/dev/bin/lanescope-ui --trace tests/data/torch_loader_samples.trace --gestures 20000
part "release build" packaging/build.sh release
part "hostile files" tests/hostile/sweep.sh build/release/bin
part "fuzzing" packaging/fuzz.sh "$hours"

[ ${#failed[@]} -eq 0 ] && exit 0
printf 'nightly: failed: %s\n' "${failed[@]}"
exit 1
