#!/bin/bash
# Records in a container of docker and podman, in a pod, and in a job of Slurm. Commands of these names stand in: they take the arguments of the real ones,
# refuse others, and run the command like the real ones: without a shell, with few variables, and without a view of this machine's files. Then copies a recorder
# to a machine that has none.
#
#   places.sh LANESCOPE AGENT PROGRAM        PROGRAM makes NVTX calls (nvtx_threads)
set -u
lanescope=$1 agent=$2 program=$3
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT
chmod 700 "$folder"
mkdir "$folder"/{bin,here,there,there/home,there/run}
cd "$folder/here" || exit 1
export PLACES=$folder XDG_RUNTIME_DIR=$folder HOME=$folder/here
unset XDG_CACHE_HOME
cat > "$folder/bin/docker" << 'END'
#!/bin/bash
tool=$(basename "$0")
wrong() { echo "$tool: $1" >&2; exit "${2:-125}"; }
stdin=no place=
case $tool in
  docker | podman)  # TOOL exec [OPTIONS] CONTAINER COMMAND [ARG...]
    [ "$1" = exec ] || wrong "unknown command $1"
    shift
    while [[ $1 = -* ]]; do [ "$1" = -i ] && stdin=yes || wrong "unknown flag $1"; shift; done
    place=$1; shift ;;
  kubectl)  # kubectl exec POD -c CONTAINER [flags] -- COMMAND [args...]
    [ "$1" = exec ] || wrong "unknown command $1"
    shift
    while [ "$1" != -- ]; do
      case $1 in
        -i) stdin=yes ;;
        -n) place=$2/$place; shift ;;
        -c) place=$place/$2; shift ;;
        -*) wrong "unknown flag $1" 1 ;;
        *) place=$place$1 ;;
      esac
      shift
    done
    shift ;;
  srun)  # srun [OPTIONS] executable [args...]; without --overlap it waits for the job's own step, without --ntasks there is one a core, without --unbuffered each line waits for its end
    stdin=yes
    while [[ $1 = -* ]]; do
      case $1 in
        --jobid=*) place=${1#*=}$place ;;
        --nodelist=*) place=$place/${1#*=} ;;
        --overlap | --ntasks=1 | --quiet | --unbuffered) place=$place, ;;
        *) wrong "unrecognized option '$1'" 1 ;;
      esac
      shift
    done ;;
esac
case $tool:$place in
  docker:train | podman:train | kubectl:lab/train-0/main | srun:123/node4,,,,) ;;
  *) wrong "there is no $place" 1 ;;
esac
echo >> "$PLACES/connections"
[ "$stdin" = yes ] || exec < /dev/null
export HOME=$PLACES/there/home PATH=/usr/bin:/bin
if ! command -v "$1" > /dev/null; then
  case $tool in
    kubectl) wrong "exec: \"$1\": executable file not found in \$PATH: unknown" 1 ;;
    srun) wrong "error: execve(): $1: No such file or directory" 2 ;;
    *) wrong "OCI runtime exec failed: exec: \"$1\": executable file not found in \$PATH: unknown" 127 ;;
  esac
fi
set -- env -i HOME="$HOME" PATH="$PATH" XDG_RUNTIME_DIR="$PLACES/there/run" "$@"
cd /
unshare -m true 2> /dev/null || exec "$@"
exec unshare -m bash -c 'mount -t tmpfs none "$PLACES/here" && exec "$@"' bash "$@"
END
chmod +x "$folder/bin/docker"
for tool in podman kubectl srun; do ln -s docker "$folder/bin/$tool"; done
export PATH=$folder/bin:$PATH

failures=0
check() { if ! eval "$2"; then echo "places: $1"; cat messages; failures=$((failures + 1)); fi; }
whole() { "$lanescope" info "$1.trace" 2>&1 | grep -q "Contents  *complete: nothing dropped"; }

quiet="-t nvtx -s none --cpuctxsw none"
for target in docker:train podman:train k8s:lab/train-0/main slurm:123/node4; do
  name=${target%%:*}
  "$lanescope" profile --on "$target" --remote-lanescope "$lanescope" $quiet -o "$name" -- "$program" > output 2> messages
  code=$?
  check "$target: it ended with $code" '[ $code = 0 ]'
  check "$target: the trace is not whole" 'whole $name'
  check "$target: the program printed something else" 'cmp -s output <("$program")'
  "$lanescope" profile --on "$target" --remote-lanescope "$lanescope" -t none -s none --cpuctxsw none -o words -f -- \
    sh -c 'printf "%s|" "$PWD" "$@"; exit 3' sh 'a b' '$HOME "$(id)"' $'line\nfeed' '' > output 2> messages
  code=$?
  check "$target: words: it ended with $code" '[ $code = 3 ]'
  check "$target: words arrived changed" '[ "$(cat output)" = "/|a b|\$HOME \"\$(id)\"|line
feed||" ]'
  check "$target: something was left there" '[ -z "$(ls "$folder"/there/home/.cache/lanescope/recordings)" ]'
  "$lanescope" profile --on "${target}x" --remote-lanescope "$lanescope" -o none -- true > output 2> messages
  check "$target: another place was found" '[ $? = 1 ] && grep -q "there is no" messages'
done

# Several machines at once: a file of each, and one command that opens them.
both="--on docker:train --on slurm:123/node4 --remote-lanescope $lanescope"
"$lanescope" profile $both $quiet -o both -- "$program" > output 2> messages
code=$?
check "both: it ended with $code" '[ $code = 0 ]'
check "both: the traces are not whole" 'whole both-train && whole both-123_node4'
named() { sed "s/^/train     | /; t" <<< "$1"; sed "s/^/123_node4 | /" <<< "$1"; }
check "both: the programs printed something else" '[ "$(sort output)" = "$(named "$("$program")" | sort)" ]'
check "both: messages do not say which machine they are of" 'grep -q "^train     | Copied, and removed there:" messages && grep -q "^123_node4 | .*both-123_node4.trace" messages'
check "both: it is not said how to open them" 'grep -q "lanescope-ui --together .*/both-train.trace .*/both-123_node4.trace" messages'
(cd "$folder/here" && mkdir numbered && cd numbered && touch report1-train.trace && "$lanescope" profile $both $quiet -- "$program" > /dev/null 2> ../messages)
check "both: without a name, each file has a number of its own" 'whole numbered/report2-train && whole numbered/report1-123_node4 && grep -q "lanescope-ui --together .*report2-train.trace .*report1-123_node4.trace" messages'
"$lanescope" profile $both $quiet -o both -- "$program" > output 2> messages
check "both: earlier files are named, though nothing was recorded" '[ $? = 1 ] && [ "$(grep -c "exists already" messages)" = 2 ] && ! grep -q "lanescope-ui --together" messages'
rm both-train.trace
"$lanescope" profile $both $quiet -o both -- "$program" > output 2> messages
check "both: an earlier file is named beside a new one" '[ $? = 1 ] && whole both-train && ! grep -q "lanescope-ui --together" messages'
"$lanescope" profile $both -t none -s none --cpuctxsw none -o coded -- sh -c 'exit 3' > output 2> messages
code=$?
check "both: the program's code is lost, $code" '[ $code = 3 ]'
"$lanescope" profile $both --on docker:nobody $quiet -o alone -- "$program" > output 2> messages
code=$?
check "both: a machine that is not there takes the others along, $code" '[ $code = 1 ] && whole alone-train && whole alone-123_node4 && grep -q "there is no nobody" messages'
"$lanescope" profile --on docker:train --on podman:train --remote-lanescope "$lanescope" $quiet -o alike -- "$program" > output 2> messages
check "both: machines of one name are not told apart" '[ $? = 0 ] && whole alike-train && whole alike-train-2 && grep -q "^train-2 | " output'
"$lanescope" profile --on docker:train --on docker:train $quiet -o twice -- "$program" > output 2> messages
check "both: one machine is recorded twice at once" '[ $? = 2 ] && grep -q "docker:train is named twice" messages'
"$lanescope" profile $both $quiet -o "ended%%" -- "$program" > /dev/null 2>&1
check "both: a percent sign in a name is one" 'whole ended%-train && whole ended%-123_node4'
"$lanescope" profile $both -t none -s none --cpuctxsw none -o stopped -- sleep 1000 > output 2> messages & recorder=$!
until [ -e stopped-train.trace ] && [ -e stopped-123_node4.trace ] || ! kill -0 $recorder 2> /dev/null; do sleep 0.1; done
kill -TERM $recorder
wait $recorder
code=$?
check "both: a signal does not end both, $code" '[ $code = 143 ] && whole stopped-train && whole stopped-123_node4'
# Each line is whole, however its pieces come, and the last one has no end.
"$lanescope" profile $both -t none -s none --cpuctxsw none -o lines -- sh -c 'for i in $(seq 300); do printf "a $i"; printf " b\n"; done; printf end' > output 2> messages
lines_of() { sed -n "s/^$1 *| //p" output; }
check "both: lines are cut, or in another order" '[ "$(lines_of train)" = "$(seq 300 | sed "s/.*/a & b/"; echo end)" ] && [ "$(lines_of 123_node4)" = "$(lines_of train)" ] && [ "$(wc -l < output)" = 602 ]'
# A reader that leaves ends the programs, as it does alone.
timeout 60 "$lanescope" profile $both -t none -s none --cpuctxsw none -o left -- yes 2> messages | head -n 1 > output
check "both: programs do not end where nobody reads them" '[ "${PIPESTATUS[0]}" = 141 ] && whole left-train && whole left-123_node4'
# A lanescope that is killed leaves no process here, and ends nothing there.
"$lanescope" profile $both -t none -s none --cpuctxsw none -o killed -- sleep 1000 > output 2> messages & recorder=$!
until [ -e killed-train.trace ] && [ -e killed-123_node4.trace ] || ! kill -0 $recorder 2> /dev/null; do sleep 0.1; done
processes=$(cat /proc/$recorder/task/*/children)
kill -KILL $recorder
wait $recorder 2> /dev/null
for process in $processes; do timeout 60 tail --pid="$process" -f /dev/null || check "both: a process stays where the one that started it was killed" false; done
for target in docker:train slurm:123/node4; do
  "$lanescope" fetch --list --on $target --remote-lanescope "$lanescope" > output 2> messages
  check "both: a recording ended where the one that began it was killed" '[ "$(grep -c runs output)" = 2 ]'
done
for session in $("$lanescope" sessions --on docker:train --remote-lanescope "$lanescope" | grep -o "profile-[0-9]*"); do
  "$lanescope" shutdown --session "$session" --on docker:train --remote-lanescope "$lanescope" > /dev/null 2>&1
done
for recording in $("$lanescope" fetch --list --on docker:train --remote-lanescope "$lanescope" | grep -o "2[0-9]*-[0-9]*-[0-9a-f]*"); do
  "$lanescope" fetch --recording "$recording" --on docker:train --remote-lanescope "$lanescope" -o "fetched-$recording" > /dev/null 2> messages
  check "both: what runs on can't be fetched" 'whole "fetched-$recording"'
done
for command in attach doctor; do
  "$lanescope" $command $both > output 2> messages
  check "$command takes several machines" '[ $? = 2 ] && grep -q -- "--on is given more than once" messages'
done

# This machine has a recorder, and the other one has none.
mkdir -p "$folder"/own/{bin,lib}
strip -o "$folder/own/bin/lanescope" "$lanescope" && strip -o "$folder/own/lib/liblanescope-agent.so" "$agent" || exit 1
own=$folder/own/bin/lanescope copies=$folder/there/home/.cache/lanescope/recorders
# Here, gzip notes that it runs.
printf '#!/bin/sh\necho >> "$PLACES/packed"\nexec %s "$@"\n' "$(command -v gzip)" > "$folder/bin/gzip"
chmod +x "$folder/bin/gzip"
for target in docker:train k8s:lab/train-0/main slurm:123/node4; do
  "$own" profile --on $target $quiet -o none -- "$program" > output 2> messages
  check "$target: it is not said what to do where there is no lanescope" '[ $? = 1 ] && grep -q -- --copy-recorder messages'
done
check "a recorder was copied unasked" '[ ! -e "$copies" ]'
check "a recorder was packed that is not sent" '[ ! -e "$folder/packed" ]'
if command -v script > /dev/null; then
  echo n | script -qec "'$own' profile --on docker:train $quiet -o none -- '$program'" /dev/null > messages 2>&1
  check "it was not asked whether to copy" 'grep -q "Copy lanescope .* to docker:train, into ~/.cache/lanescope/recorders there? .y/N." messages'
  check "a recorder was copied against the answer" '[ ! -e "$copies" ]'
  # Of several machines, each asks, one after the other. The answers come through a pipe that stays open until the end: script loses what it is given just
  # before its input ends. Nobody waits for a question of a lanescope that has ended.
  mkfifo answers
  : > messages
  script -qec "'$own' profile --on docker:train --on slurm:123/node4 $quiet -o asked -- '$program'" /dev/null < answers >> messages 2>&1 & asking=$!
  exec 9<> answers  # does not wait for a reader
  await_count() { until [ "$(grep -o "$2" messages | wc -l)" -ge "$1" ] || ! kill -0 $asking 2> /dev/null; do sleep 0.1; done; }
  await_count 1 "y/N."; echo n >&9
  await_count 2 "y/N."; echo y >&9
  await_count 1 "Copied, and removed there"
  wait $asking
  exec 9>&-
  rm answers
  check "both: not each asks whether to copy" '[ "$(grep -o "Copy lanescope [^?]*? .y/N." messages | sort -u | wc -l)" = 2 ]'
  check "both: not one alone was answered by yes" '[ "$(ls asked-*.trace | wc -l)" = 1 ] && { whole asked-train || whole asked-123_node4; }'
  rm -r "$copies" "$folder/packed"
fi
# A connection may cost a password: what looks for a copy, or makes it, records.
made() { [ "$(wc -l < "$folder/connections")" = "$1" ]; }
: > "$folder/connections"
"$own" profile --on docker:train --copy-recorder $quiet -o copied -- "$program" > output 2> messages
check "nothing was recorded by a copy" '[ $? = 0 ] && whole copied && cmp -s output <("$program")'
check "the copy is not the recorder here" 'cmp -s "$own" "$copies"/*/bin/lanescope && cmp -s "$folder/own/lib/liblanescope-agent.so" "$copies"/*/lib/liblanescope-agent.so'
check "others may read the copy" '[ "$(stat -c %a "$copies"/*)" = 700 ]'
check "a copy is not made and used by two connections" 'made 2'
: > "$folder/connections"
"$own" profile --on docker:train $quiet -o again -- "$program" > output 2> messages
check "what was copied before is not used" '[ $? = 0 ] && whole again && ! grep -q Copying messages'
check "a copy is not used by the connection that finds it" 'made 2'
: > "$folder/connections"
"$own" profile --on docker:train --copy-recorder $quiet -o once -- "$program" > output 2> messages
check "it was copied twice" '[ $? = 0 ] && ! grep -q Copying messages && [ "$(ls "$copies" | wc -l)" = 1 ]'
check "a copy that is asked for is not used by one connection" 'made 1'
check "it was not packed once" '[ "$(wc -l < "$folder/packed")" = 1 ]'
rm "$folder/bin/gzip"
# What lies there is not trusted because of its name.
damage() {  # NAME COMMAND
  kind=$1
  (cd "$copies"/* && eval "$2")
  "$own" profile --on docker:train $quiet -o "damaged-$kind" -- "$program" > output 2> messages
  check "$kind: a damaged copy is used" '[ $? = 1 ] && grep -q -- --copy-recorder messages && [ ! -s "damaged-$kind.trace" ]'
  "$own" profile --on docker:train --copy-recorder $quiet -o "damaged-$kind" -- "$program" > output 2> messages
  check "$kind: a damaged copy is not made anew" '[ $? = 0 ] && whole "damaged-$kind" && grep -q "docker:train is not whole any more" messages'
  check "$kind: something else is left there" '[ "$(ls -A "$copies" | wc -l)" = 1 ] && [ "$(ls -A "$copies"/*)" = "SHA256SUMS
bin
lib" ]'
}
damage missing 'rm lib/liblanescope-agent.so'
damage cut 'truncate -s -1 lib/liblanescope-agent.so'
damage unlisted 'sed -i /agent/d SHA256SUMS; rm lib/liblanescope-agent.so'
damage replaced 'cd ..; at=$(ls); rm -r "$at"; : > "$at"'

# A copy that was changed on its way, or does not run there, is not kept.
cat > "$folder/bin/cuts" << 'END'
#!/bin/bash
if [ "$1" = sh ] && [ "$7" != look ]; then head -c 100000 | "$@"; else exec "$@"; fi
END
chmod +x "$folder/bin/cuts"
copies=$folder/here/.cache/lanescope/recorders
"$own" doctor --on command:cuts --copy-recorder > output 2> messages
check "a copy that was cut off was kept" '[ $? = 1 ] && grep -q "arrived changed" messages && [ -z "$(ls "$copies")" ]'
library=$(ldd "$own" | grep -o "libprotobuf[^ ]*" | head -n 1)
mkdir "$folder/other" && : > "$folder/other/$library"
"$own" doctor --on "command:env LD_LIBRARY_PATH=$folder/other" --copy-recorder > output 2> messages
check "a copy that does not run was kept" '[ $? = 1 ] && grep -q "does not run on .*file too short" messages && [ -z "$(ls "$copies")" ]'
printf '#!/bin/sh\n[ "$*" = -m ] && echo other\n' > "$folder/other/uname"
chmod +x "$folder/other/uname"
"$own" doctor --on "command:env PATH=$folder/other:$PATH" --copy-recorder > output 2> messages
check "a copy was made for another kind of machine" '[ $? = 1 ] && grep -q "is a machine of kind other" messages && [ -z "$(ls "$copies")" ]'
exit $((failures > 0))
