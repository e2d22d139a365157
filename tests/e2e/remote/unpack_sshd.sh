#!/bin/sh
# unpack_sshd.sh FOLDER: puts Debian's or Ubuntu's ssh server into FOLDER/sshd, for tests. It is not installed, because it would then listen to the network.
set -eu
mkdir -p "$1"
cd "$1"
[ ! -x sshd ] || exit 0
apt-get download -qq openssh-server libwrap0 2>/dev/null
for package in *.deb; do dpkg-deb -x "$package" .; done
rm ./*.deb
libraries=$(dirname "$(find "$PWD" -name 'libwrap.so.0')")
# A server that runs as root drops its rights to a user that the package makes. Here only this process sees such a user.
cat > sshd.new << END
#!/bin/sh
export LD_LIBRARY_PATH=$libraries
if [ "\$(id -u)" != 0 ] || getent passwd sshd >/dev/null; then exec $PWD/usr/sbin/sshd "\$@"; fi
users=\$(mktemp)
{ cat /etc/passwd; echo 'sshd:x:65533:65534::/run/sshd:/usr/sbin/nologin'; } > "\$users"
exec unshare -m sh -c 'mount --bind "\$0" /etc/passwd; rm "\$0"; exec $PWD/usr/sbin/sshd "\$@"' "\$users" "\$@"
END
chmod +x sshd.new
mv sshd.new sshd
