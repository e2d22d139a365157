#!/usr/bin/env bash
# test.sh: installs what is missing, builds, and passes the tests: those that parse untrusted bytes or share memory between threads under
# sanitizers, then all of them, built as for development, but several files of a library at once as in a release: names that meet there are found here.
set -euo pipefail
case "${1:-}" in -h | --help) exec sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0" ;; esac
root=$(cd "$(dirname "$0")/.." && pwd)
"$root/packaging/install-deps.sh" git clang-format-14 patchelf rpm cpio  # what tests of packages take
cd "$root"
export QT_QPA_PLATFORM=offscreen

"$root/packaging/build.sh" ci
# What parses untrusted bytes or shares memory between threads runs under sanitizers, too; all tests do by night (packaging/nightly.sh).
address=(test_file test_trace test_channel test_agent_inside)
replayed=(fuzz_frames fuzz_payloads fuzz_texts fuzz_trace_file)
threads=(test_trace test_channel test_agent_inside)
"$root/packaging/build.sh" asan "${address[@]}" "${replayed[@]}"
"$root/packaging/build.sh" tsan "${threads[@]}"
commands=()
for test in "${threads[@]}"; do commands+=("build/tsan/bin/$test"); done
for test in "${address[@]}"; do commands+=("build/asan/bin/$test"); done
for target in "${replayed[@]}"; do
  corpus=tests/fuzz/corpus/$target
  [ -d "$corpus" ] || corpus=
  commands+=("build/asan/bin/$target 1000 $corpus")
done
# As many at once as there are processors; what one prints comes at once when it ends, and the first that fails ends all.
printf '%s\0' "${commands[@]}" | xargs -0 -P "$(nproc)" -I{} bash -c '
  out=$({} 2>&1) && code=0 || code=$?
  printf "test: %s\n%s\n" "{}" "$(tail -n 200 <<<"$out")"
  [ "$code" -eq 0 ] || { echo "test: {} ended with $code" >&2; exit 255; }'

# Many tests wait more than they compute, so one more runs than there are processors.
ctest --preset ci --parallel $(($(nproc) + 1)) --no-tests=error
