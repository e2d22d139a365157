#!/usr/bin/env bash
# test.sh: installs what is missing, builds, and runs the tests: first those of code that parses untrusted bytes or shares memory, under sanitizers, then all
# of them. These are built as for development, except that several files of a library are compiled at once as in a release, which finds
# names that collide.
set -euo pipefail
case "${1:-}" in -h | --help) exec sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0" ;; esac
root=$(cd "$(dirname "$0")/.." && pwd)
packages=(git clang-format-14 patchelf rpm cpio)  # what tests of packages take
packages+=(zsh fish man-db libomp-dev libucx-dev python3-ipython python3-pytest mypy openssh-client iproute2)  # what is recorded, completed or checked
"$root/packaging/install-deps.sh" "${packages[@]}"
cd "$root"
export QT_QPA_PLATFORM=offscreen
if ! (PATH=$PATH:/usr/sbin:/sbin command -v sshd) >/dev/null && tests/e2e/remote/unpack_sshd.sh build/sshd; then PATH=$root/build/sshd:$PATH; fi

"$root/packaging/build.sh" ci
# Code that parses untrusted bytes, and code that shares memory between threads and processes, runs under sanitizers, too; all tests do at night
# (packaging/nightly.sh).
address=(test_file test_channel test_agent_inside)
replayed=(fuzz_frames fuzz_payloads fuzz_texts fuzz_trace_file)
threads=(test_channel test_agent_inside test_timeline_core)
"$root/packaging/build.sh" asan "${address[@]}" "${replayed[@]}"
"$root/packaging/build.sh" tsan "${threads[@]}"
commands=("build/tsan/bin/test_timeline_core '~[long]'")  # the longest begins first; the cases that take most of its time are left to the nightly run
for test in "${threads[@]}"; do [ "$test" = test_timeline_core ] || commands+=("build/tsan/bin/$test"); done
for test in "${address[@]}"; do commands+=("build/asan/bin/$test"); done
for target in "${replayed[@]}"; do
  corpus=tests/fuzz/corpus/$target
  [ -d "$corpus" ] || corpus=
  commands+=("build/asan/bin/$target 1000 $corpus")
done
# Runs as many at once as there are processors. The output of each is printed when it ends, and the first failure ends all.
printf '%s\0' "${commands[@]}" | xargs -0 -P "$(nproc)" -I{} bash -c '
  out=$({} 2>&1) && code=0 || code=$?
  printf "test: %s\n%s\n" "{}" "$(tail -n 200 <<<"$out")"
  [ "$code" -eq 0 ] || [ "$code" -eq 77 ] || { echo "test: {} ended with $code" >&2; exit 255; }'

# Many tests wait for a time, so one more than there are processors runs at a time.
code=0
ctest --preset ci --parallel $(($(nproc) + 1)) --no-tests=error || code=$?
# What tests said that they could not try on this machine, including tests that tried most of their cases.
sed -nE '/^(.*: )?warning:$/{n;s/^ +//p}; s/^(.* not tried)$/\1/p; s/^SKIP *: //p' build/ci/Testing/Temporary/LastTest.log | sort | uniq -c | sed 's/^/test: not tried:/'
exit "$code"
