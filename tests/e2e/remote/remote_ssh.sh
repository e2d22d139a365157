#!/bin/bash
# Records over ssh, through an sshd that is started for each link as its ProxyCommand: no port, no service, keys of its own. Skipped (77) if
# there is no sshd.
#
#   remote_ssh.sh LANESCOPE PROGRAM        PROGRAM makes NVTX calls (nvtx_threads)
set -u
lanescope=$1 program=$2
sshd=$(PATH=$PATH:/usr/sbin:/sbin command -v sshd) || { echo "remote_ssh: there is no sshd here"; exit 77; }
command -v ssh-keygen > /dev/null || { echo "remote_ssh: there is no ssh-keygen here"; exit 77; }
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
chmod 700 .
export XDG_RUNTIME_DIR=$folder
ssh-keygen -q -t ed25519 -N '' -f host && ssh-keygen -q -t ed25519 -N '' -f user || exit 1
cp user.pub authorized
# An sshd that runs as root requires this folder of its package.
[ "$(id -u)" != 0 ] || mkdir -p /run/sshd
cat > sshd_config << END
HostKey $folder/host
AuthorizedKeysFile $folder/authorized
StrictModes no
UsePAM no
PasswordAuthentication no
PermitRootLogin yes
PidFile none
SetEnv XDG_CACHE_HOME=$folder/cache XDG_RUNTIME_DIR=$folder
END
echo "known $(cut -d' ' -f1,2 host.pub)" > known_hosts
cat > ssh_config << END
Host stranger
  HostKeyAlias unknown
Host *
  HostKeyAlias known
  UserKnownHostsFile $folder/known_hosts
  StrictHostKeyChecking yes
  IdentityFile $folder/user
  IdentitiesOnly yes
  LogLevel ERROR
Host gpu7
  ProxyCommand $sshd -i -f $folder/sshd_config
Host behind
  ProxyCommand /usr/bin/env ssh -F $folder/ssh_config gpu7 $sshd -i -f $folder/sshd_config
Host stranger
  ProxyCommand $sshd -i -f $folder/sshd_config
END
# The user's own configuration, which ssh finds in the home folder that the system knows.
mkdir bin
printf '#!/bin/sh\nexec %s -F %s "$@"\n' "$(command -v ssh)" "$folder/ssh_config" > bin/ssh
chmod +x bin/ssh
PATH=$folder/bin:$PATH
ssh gpu7 true || { echo "remote_ssh: this sshd takes no connection here"; exit 77; }

failures=0
check() { if ! eval "$2"; then echo "remote_ssh: $1"; failures=$((failures + 1)); fi; }

# A path that a shell on the other side would split.
there="$folder/it's a \$HOME\\ \"of
lines\" *"
mkdir "$there"
ln -s "$lanescope" "$there/lanescope"
quiet="-t nvtx -s none --cpuctxsw none"
for host in gpu7 behind; do
  "$lanescope" profile --on "ssh:$host" --remote-lanescope "$there/lanescope" $quiet -o "$host" -- "$program" > output 2> messages
  code=$?
  check "$host: it ended with $code" '[ $code = 0 ]'
  check "$host: the trace is not whole" '"$lanescope" info "$host.trace" | grep -q "Contents  *complete: nothing dropped"'
  check "$host: the program printed something else" 'cmp -s output <("$program")'
done
"$lanescope" profile --on ssh:gpu7 --remote-lanescope "$lanescope" --remote-folder "$there" -t none -s none --cpuctxsw none -o words -- \
  sh -c 'printf "%s|" "$PWD" "$@"; exit 3' sh 'a b' "it's" '"q"' '$HOME $(id)' $'line\nfeed' '\' '' -- > output 2> messages
code=$?
check "words: it ended with $code" '[ $code = 3 ]'
check "words arrived changed" '[ "$(cat output)" = "$there|a b|it'"'"'s|\"q\"|\$HOME \$(id)|line
feed|\\||--|" ]'
"$lanescope" profile --on ssh:gpu7 -o none -- true > output 2> messages
check "nothing says that there is no lanescope" 'grep -q "has no lanescope" messages && grep -q -- "--copy-recorder" messages'
mkdir -p own/bin own/lib && strip -o own/bin/lanescope "$lanescope" && strip -o own/lib/liblanescope-agent.so "${lanescope%/*}/../lib/liblanescope-agent.so" || exit 1
own/bin/lanescope profile --on ssh:behind --copy-recorder $quiet -o copied -- "$program" > output 2> messages
check "nothing was recorded by a copy" '[ $? = 0 ] && "$lanescope" info copied.trace | grep -q "Contents  *complete: nothing dropped" && cmp -s cache/lanescope/recorders/*/bin/lanescope own/bin/lanescope'
"$lanescope" sessions --on ssh:stranger --remote-lanescope "$lanescope" > output 2> messages
code=$?
check "a host whose key is not known was spoken to" '[ $code = 1 ] && grep -q "Host key verification failed" messages'
check "something was left there" '[ -z "$(ls cache/lanescope/recordings)" ]'
[ $failures = 0 ] || cat messages
exit $((failures > 0))
