#!/usr/bin/env python3
"""Runs real programs alone and recorded, and reports differences in their output or exit code.

real_programs.py LANESCOPE [TEXT...]     TEXT: only programs whose name contains it

Each program runs under every kind of trace below. Programs that are not installed are left out and listed. The exit code is 1 if a recorded program behaves
differently than alone, or does not end within ten times the time and a minute.
"""
import os
import shutil
import subprocess
import sys
import tempfile
import time

KINDS = {
    "nvtx": "-t nvtx -s none --cpuctxsw none",
    "osrt": "-t osrt -s none --cpuctxsw none",
    "all": "-t cuda,nvtx,osrt,python-gil,mpi -s none --cpuctxsw none",
    "samples": "-t osrt,nvtx -s process-tree --cpuctxsw process-tree",
}

POOLS = """
import multiprocessing, sys
def square(x): return x * x
def main():
    multiprocessing.set_start_method(sys.argv[1])
    with multiprocessing.Pool(3) as pool: print(sum(pool.map(square, range(1000))))
    queue = multiprocessing.Queue()
    processes = [multiprocessing.Process(target=queue.put, args=(i,)) for i in range(4)]
    for process in processes: process.start()
    print(sorted(queue.get() for _ in processes))
    for process in processes: process.join()
if __name__ == '__main__': main()
"""
FUTURES = """
import asyncio, concurrent.futures, subprocess, sys
def echo(x): return subprocess.run(['echo', str(x)], capture_output=True, text=True).stdout.strip()
with concurrent.futures.ThreadPoolExecutor(8) as threads: print(sum(int(x) for x in threads.map(echo, range(40))))
async def sleepers():
    processes = [await asyncio.create_subprocess_exec('sleep', '0.01') for _ in range(10)]
    print([await process.wait() for process in processes])
asyncio.run(sleepers())
sys.exit(5)
"""
ARRAYS = """
import threading, numpy
a = numpy.arange(90000.).reshape(300, 300)
threads = [threading.Thread(target=lambda: a @ a) for _ in range(4)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print((a @ a).sum())
"""
NODE = """
const { Worker, isMainThread, parentPort } = require('worker_threads');
if (isMainThread) {
  let sum = 0;
  const ends = [1, 2, 3].map(() => { const w = new Worker(__filename); w.on('message', m => sum += m); return new Promise(r => w.on('exit', r)); });
  Promise.all(ends).then(() => { console.log(sum, require('child_process').execSync('echo sub').toString()); process.exit(6); });
} else { let s = 0; for (let i = 0; i < 1e6; i++) s += i % 7; parentPort.postMessage(s); }
"""
JAVA = """
import java.util.concurrent.*;
public class Real {
  static int deeper(int i) { return deeper(i + 1) + 1; }
  public static void main(String[] arguments) throws Exception {
    var pool = Executors.newFixedThreadPool(4);
    var futures = new java.util.ArrayList<Future<Long>>();
    for (int i = 0; i < 100; i++) { final int k = i; futures.add(pool.submit(() -> { long s = 0; for (byte b : new byte[100000]) s += b + k; return s; })); }
    long sum = 0;
    for (var future : futures) sum += future.get();
    pool.shutdown();
    try { Object none = null; none.hashCode(); } catch (NullPointerException expected) { System.out.println("null"); }
    try { deeper(0); } catch (StackOverflowError expected) { System.out.println("deep"); }
    System.out.println(new ProcessBuilder("true").start().waitFor() + " " + sum);
    System.exit(7);
  }
}
"""
RUST = """
fn main() {
    let threads: Vec<_> = (0..4u64).map(|i| std::thread::spawn(move || (0..100000u64).map(|x| x ^ i).fold(0, u64::wrapping_add))).collect();
    println!("{}", threads.into_iter().map(|t| t.join().unwrap()).fold(0, u64::wrapping_add));
    print!("{}", String::from_utf8_lossy(&std::process::Command::new("echo").arg("x").output().unwrap().stdout));
    println!("{}", std::thread::spawn(|| panic!("expected")).join().is_err());
    std::process::exit(8)
}
"""
FILES = {"pools.py": POOLS, "futures.py": FUTURES, "arrays.py": ARRAYS, "threads.js": NODE, "Real.java": JAVA, "real.rs": RUST,
         "threads.c": "#include <pthread.h>\n#include <stdio.h>\n#include <unistd.h>\nstatic void* f(void* a) { usleep(1000); return a; }\n"
                      "int main(void) { for (int i = 0; i < 20; ++i) { pthread_t t; pthread_create(&t, 0, f, 0); pthread_join(t, 0); }\n"
                      "  puts(\"threads\"); return 4; }\n",
         "Makefile": "all:" + "".join(f" o{i}.o" for i in range(20)) + "\no%.o:\n\t@echo 'int f(int x) { return x * $*; }' | cc -x c -c -o $@ - && echo $@\n"}

# What must be installed, and a shell command. Its output must be the same in each run.
PROGRAMS = {
    "python fork": (["python3"], "python3 pools.py fork"),
    "python spawn": (["python3"], "python3 pools.py spawn"),
    "python forkserver": (["python3"], "python3 pools.py forkserver"),
    "python futures": (["python3"], "python3 futures.py"),
    "numpy": (["python3"], "python3 arrays.py"),
    "git": (["git"], "rm -rf r && mkdir r && cd r && git init -q && git config user.email a@b && git config user.name n && "
                     "for i in 1 2 3; do seq $i 200 > f$i; git add . && git commit -qm c$i; done; git log --format=%s && git gc -q && "
                     "git clone -q . ../r/clone && git -C clone grep -c 100"),
    "make": (["make", "cc"], "rm -f o*.o; make -j4 | sort"),
    "pipelines": (["bash"], "for i in $(seq 20); do seq 1000 | sort -rn | head -3 | awk '{ s += $1 } END { print s }' & done | sort | uniq -c; wait; "
                            "trap 'echo bye; exit 9' EXIT; (exit 4); echo $?"),
    "node": (["node"], "node threads.js"),
    "java": (["javac", "java"], "javac -d . Real.java && java -cp . Real"),
    "rust": (["rustc"], "rustc -O -o real real.rs && ./real"),
    "rust, static": (["rustc"], "rustc -O -C target-feature=+crt-static -o real_static real.rs && ./real_static"),
    "gdb": (["gdb", "cc"], "cc -g -o threads threads.c -lpthread && gdb -q -batch -ex run --args ./threads 2>&1 | grep -oE '^threads|exited with.*'"),
    "strace": (["strace", "cc"], "cc -o threads threads.c -lpthread && strace -f -o /dev/null ./threads"),
    "valgrind": (["valgrind", "cc"], "cc -g -o threads threads.c -lpthread && valgrind -q ./threads"),
    "archives": (["tar", "gzip"], "tar c /usr/include/linux 2>/dev/null | gzip -1 | gunzip | tar t | wc -l"),
    "other users": (["setpriv"], "setpriv --reuid 1000 id -u; unshare -r id -u; timeout 0.2 sleep 5; echo $?; env -i /bin/echo e; (ulimit -n 8; echo n)"),
    "postgres": (["initdb", "postgres", "su"], "rm -rf db && mkdir db && chown nobody db && su nobody -s /bin/bash -c \"initdb -D $PWD/db/d -A trust > /dev/null\" && "
                                              "echo 'select sum(i * i) from generate_series(1, 1000) i' | "
                                              "su nobody -s /bin/bash -c \"postgres --single -D $PWD/db/d postgres\" | grep -o '[0-9]\\{9\\}'"),
}


def run(command, folder, limit):
    begin = time.time()
    process = subprocess.Popen(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
    try:
        output, messages = process.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, 9)
        output, messages = process.communicate()
        return "does not end", output, messages, limit
    code = process.returncode
    return 128 - code if code < 0 else code, output, messages, time.time() - begin


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    lanescope = os.path.realpath(sys.argv[1])
    folder = tempfile.mkdtemp(prefix="lanescope-real-")
    os.chmod(folder, 0o755)
    for name, text in FILES.items():
        with open(os.path.join(folder, name), "w") as file:
            file.write(text)
    runs = failures = 0
    try:
        for name, (needed, command) in PROGRAMS.items():
            if len(sys.argv) > 2 and not any(text in name for text in sys.argv[2:]):
                continue
            missing = [tool for tool in needed if shutil.which(tool) is None]
            if missing:
                print(f"left out: {name} (there is no {missing[0]})")
                continue
            shell = ["bash", "-c", command]
            code, output, messages, alone = run(shell, folder, 600)
            for kind, options in KINDS.items():
                runs += 1
                ran = run([lanescope, "profile", *options.split(), "-f", "-o", os.path.join(folder, "x"), *shell], folder, 60 + 10 * alone)
                if ran[:2] == (code, output):
                    print(f"ok    {name}, {kind}: {ran[3]:.1f} s, alone {alone:.1f}", flush=True)
                    continue
                failures += 1
                print(f"FAIL  {name}, {kind}: {ran[0]}, alone {code}; {ran[1][-200:]!r}, alone {output[-200:]!r}\n{ran[2].decode(errors='replace')[-400:]}", flush=True)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print(f"{runs} runs, {failures} not as alone")
    sys.exit(1 if failures or not runs else 0)


main()
