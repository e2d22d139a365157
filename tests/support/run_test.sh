#!/usr/bin/env bash
# run_test.sh RUNNER: checks that the programs that a test leaves running are ended, however the test ends and whoever started them.
set -euo pipefail
runner=$1
fail() { echo "run_test.sh: $*" >&2; exit 1; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# A daemon with a session of its own, a child that ignores signals, and a child of that child: they keep the pipe of this substitution open.
code=0
timeout 60 bash -c '
  said=$("$1" bash -c "
    (setsid sleep 600 & echo \$! >\"$2/daemon\")
    (trap \"\" TERM INT HUP; sleep 600 & echo \$! >\"$2/child\"; wait) &
    until [ -s \"$2/child\" ] && grep -qx sleep \"/proc/\$(cat \"$2/daemon\")/comm\"; do sleep 0.01; done
    exit 3" 2>"$2/named"); exit $?' _ "$runner" "$folder" || code=$?
[ "$code" = 3 ] || fail "ended with $code, not with 3 as the test did"
for which in daemon child; do
  ! kill -0 "$(cat "$folder/$which")" 2>/dev/null || fail "left the $which running"
done
grep -q "the test left sleep (process $(cat "$folder/daemon")) running" "$folder/named" || fail "does not name what was left"

[ "$("$runner" echo all)" = all ] || fail "loses what the test prints"
code=0
{ "$runner" bash -c 'kill -SEGV $$'; } 2>/dev/null || code=$?
[ "$code" = 139 ] || fail "says $code of a test that a signal ended"
