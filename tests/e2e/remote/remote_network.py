#!/usr/bin/env python3
"""Records and fetches by ssh between two network namespaces, over a link with delay, limited rate and packet loss.

remote_network.py LANESCOPE PROGRAM TRACE      PROGRAM makes NVTX calls (nvtx_threads)

The namespaces are joined by TUN devices. This process carries the packets between them, because kernels without sch_netem can't lose packets. The copy must
equal the remote file, byte for byte, even if the link is down for a time. Prints a line for each link. Skipped (77) without root, TUN devices, or sshd.
"""
import collections
import ctypes
import fcntl
import filecmp
import os
import pathlib
import random
import select
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time

NEW_NETWORK = 0x40000000  # CLONE_NEWNET
PACKETS_HELD = 256  # in each direction; a full queue drops new packets


def new_network(address):
    """Puts this process into a network namespace of its own. Returns the descriptor of its only device."""
    if ctypes.CDLL(None, use_errno=True).unshare(NEW_NETWORK) != 0:
        raise OSError(ctypes.get_errno(), "unshare")
    device = os.open("/dev/net/tun", os.O_RDWR)
    fcntl.ioctl(device, 0x400454CA, struct.pack("16sH22x", b"tun0", 0x1001))  # TUNSETIFF: IP packets without a header
    for command in ("link set dev lo up", f"addr add {address}/24 dev tun0", "link set dev tun0 up"):
        subprocess.run(["ip", *command.split()], check=True)
    return device


class Link:
    """Carries packets in both directions, in a thread of its own."""

    def __init__(self, ends):
        self.ends, self.queues = ends, (collections.deque(), collections.deque())
        self.free_at = [0.0, 0.0]
        self.random = random.Random(1)
        self.become(0, 1e9, 0)
        thread = threading.Thread(target=self.carry, daemon=True)
        thread.start()

    def become(self, delay, rate, loss):
        """Sets the delay in seconds each way, the rate in bytes per second, and the share of lost packets."""
        self.delay, self.rate, self.loss, self.lost, self.carried = delay, rate, loss, 0, 0

    def carry(self):
        while True:
            due = min((queue[0][0] for queue in self.queues if queue), default=None)
            wait = 1.0 if due is None else max(0.0, due - time.monotonic())
            for end in select.select(self.ends, [], [], wait)[0]:
                way = self.ends.index(end)
                self.take(way, os.read(end, 65536))
            now = time.monotonic()
            for way, queue in enumerate(self.queues):
                while queue and queue[0][0] <= now:
                    os.write(self.ends[1 - way], queue.popleft()[1])

    def take(self, way, packet):
        queue = self.queues[way]
        if self.random.random() < self.loss or len(queue) >= PACKETS_HELD:
            self.lost += 1
            return
        self.carried += 1
        now = time.monotonic()
        self.free_at[way] = max(now, self.free_at[way]) + len(packet) / self.rate
        queue.append((self.free_at[way] + self.delay, packet))


def skip(why):
    print("remote_network:", why)
    sys.exit(77)


def main():
    lanescope, program, trace = (os.path.realpath(each) for each in sys.argv[1:4])
    sshd = shutil.which("sshd", path=os.environ["PATH"] + ":/usr/sbin:/sbin")
    if os.getuid() != 0 or not os.path.exists("/dev/net/tun") or not shutil.which("ip"):
        skip("it takes root, /dev/net/tun and ip to make networks")
    if not sshd or not shutil.which("ssh-keygen"):
        skip("there is no sshd here")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for key in ("host", "user"):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key], cwd=folder, check=True)
        os.makedirs("/run/sshd", exist_ok=True)
        (folder / "sshd_config").write_text(
            f"HostKey {folder}/host\nAuthorizedKeysFile {folder}/user.pub\nStrictModes no\nUsePAM no\nPidFile none\nPermitRootLogin yes\n"
            f"ListenAddress 10.231.0.2\nSetEnv XDG_CACHE_HOME={folder}/cache XDG_RUNTIME_DIR={folder}\n")
        (folder / "known_hosts").write_text("gpu7 " + (folder / "host.pub").read_text())
        (folder / "ssh_config").write_text(
            f"Host gpu7\nHostName 10.231.0.2\nHostKeyAlias gpu7\nUserKnownHostsFile {folder}/known_hosts\nStrictHostKeyChecking yes\nIdentityFile {folder}/user\n"
            "IdentitiesOnly yes\nLogLevel ERROR\nConnectTimeout 20\n")
        (folder / "bin").mkdir()
        (folder / "bin" / "ssh").write_text(f'#!/bin/sh\nexec {shutil.which("ssh")} -F {folder}/ssh_config "$@"\n')
        (folder / "bin" / "ssh").chmod(0o755)
        os.environ["PATH"] = f"{folder}/bin:" + os.environ["PATH"]

        ours, theirs = socket.socketpair()
        there = os.fork()
        if there == 0:
            try:
                socket.send_fds(theirs, [b"x"], [new_network("10.231.0.2")])
                os.execv(sshd, [sshd, "-D", "-f", str(folder / "sshd_config")])
            finally:
                os._exit(1)
        theirs.close()
        try:
            try:
                device = new_network("10.231.0.1")
                _, received, _, _ = socket.recv_fds(ours, 1, 1)
            except (OSError, subprocess.CalledProcessError) as error:
                skip(f"no network could be made: {error}")
            if not received:
                skip("no network could be made")
            link = Link([device, received[0]])
            for _ in range(50):
                if subprocess.run(["ssh", "gpu7", "true"], capture_output=True).returncode == 0:
                    break
                time.sleep(0.2)
            else:
                skip("this sshd takes no connection here")
            return try_links(lanescope, program, trace, folder, link)
        finally:
            os.kill(there, signal.SIGKILL)
            os.waitpid(there, 0)


def try_links(lanescope, program, trace, folder, link):
    failures = 0
    on = ["--on", "ssh:gpu7", "--remote-lanescope", lanescope]
    for what, delay, rate, loss, away in (("fast", 0, 1e9, 0, 0), ("100 ms each way, 1 Mbit/s", 0.1, 125e3, 0, 0), ("20 ms each way, 10 Mbit/s, 3 % lost", 0.02, 1.25e6, 0.03, 0),
                                          ("20 ms each way, 1 Mbit/s, away for 15 s", 0.02, 125e3, 0, 15)):
        for copy in folder.glob("*.trace"):
            copy.unlink()
        link.become(delay, rate, loss)
        began = time.monotonic()
        recorded = subprocess.run([lanescope, "profile", *on, "-t", "nvtx", "-s", "none", "--cpuctxsw=none", "-o", "run", "--", program],
                                  cwd=folder, capture_output=True, text=True)
        ranges = subprocess.run([lanescope, "info", "run.trace"], cwd=folder, capture_output=True, text=True).stdout
        whole = recorded.returncode == 0 and "nothing dropped" in ranges and "1,642" in ranges
        fetched = subprocess.Popen([lanescope, "fetch", *on, trace, "-o", "copy.trace"], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        if away:
            while fetched.poll() is None and not any(each.stat().st_size > 20_000 for each in folder.glob("*copy*")):
                time.sleep(0.02)
            midway = fetched.poll() is None
            link.loss = 1
            time.sleep(away)
            link.loss = loss
        messages = fetched.communicate()[1]
        equal = fetched.returncode == 0 and filecmp.cmp(trace, folder / "copy.trace", shallow=False)
        fine = whole and equal and (not away or midway)
        failures += not fine
        print(f"{what}: recording {'whole' if whole else 'NOT WHOLE'}, copy {'equal' if equal else 'NOT EQUAL'}{', cut midway' if away and midway else ''}; "
              f"{link.carried} packets, {link.lost} lost; {time.monotonic() - began:.1f} s", flush=True)
        if not fine:
            print(recorded.stderr, ranges, messages)
    return failures > 0


if __name__ == "__main__":
    sys.exit(main())
