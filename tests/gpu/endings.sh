#!/bin/bash
# Checks how programs that use a GPU end, on a machine with one and PyTorch. Use: endings.sh [LANESCOPE]
# Prints a line for each check, and the number of failed checks at the end. Takes about 80 seconds.
lanescope=$(realpath "${1:-build/dev/bin/lanescope}")
folder=$(mktemp -d); cd "$folder" || exit 1
failures=0
check() {  # check WHAT EXPECTED FOUND
  if [ "$2" = "$3" ]; then echo "ok    $1"; else echo "FAIL  $1: expected $2, found $3"; failures=$((failures + 1)); fi
}
kernels() { "$lanescope" stats -q -r cuda_gpu_trace -f csv "$1" 2>/dev/null | grep -c 'FunctorOnSelf_add\|add_'; }
whole() { "$lanescope" info "$1" | grep -q 'Contents  *complete: nothing dropped' && echo yes || echo no; }

# A library that calls exec by its system call number.
cc -shared -fPIC -o become.so -x c - <<'C' || exit 1
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <unistd.h>
void become(void) {
  char* words[] = {"sh", "-c", "echo another; exit 3", 0};
  syscall(SYS_execve, "/bin/sh", words, environ);
}
C

# Launches 300 kernels, of which the last still runs, and then does what the first argument says.
cat > work.py <<'P'
import ctypes, os, signal, sys, time
if sys.argv[1] == "exec-call": become = ctypes.CDLL("./become.so").become
import torch

x = torch.ones(1 << 24, device="cuda")
torch.cuda.synchronize()

def work():
    for _ in range(300): x.add_(1)

how = sys.argv[1]
if how == "profiled":
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profile:
        work()
        torch.cuda.synchronize()
else:
    work()
print("worked", flush=True)
if how == "exec-call": become()
if how == "sleep": time.sleep(60)
if how == "exec": os.execvp("sh", ["sh", "-c", "echo another; exit 3"])
if how == "exec-fails":
    for name in ("/nowhere/sh", "no-such-program"):
        try: os.execvp(name, [name])
        except OSError: print("none", flush=True)
    work()
    torch.cuda.synchronize()
if how == "_exit": os._exit(7)
if how == "abort": os.abort()
if how == "segv": ctypes.string_at(16)
if how == "term": os.kill(os.getpid(), signal.SIGTERM)
if how == "kill": os.kill(os.getpid(), signal.SIGKILL)
if how == "reset":
    runtime = [line.split()[-1] for line in open("/proc/self/maps") if "libcudart.so" in line][0]
    torch.cuda.synchronize()
    ctypes.CDLL(runtime).cudaDeviceReset()
    os._exit(9)
P

run() {  # run HOW CODE OUTPUT KERNELS; "-": as many as there are
  "$lanescope" profile -t cuda -f -o "$1" python3 work.py "$1" > output 2> messages
  check "$1: exit code" "$2" $?
  check "$1: output" "$3" "$(tr '\n' ' ' < output)"
  [ "$4" = - ] || check "$1: kernels" "$4" "$(kernels "$1.trace")"
}

run exec 3 "worked another " 300
check "exec: nothing is missing" yes "$(whole exec.trace)"
run exec-call 3 "worked another " 300
check "exec-call: nothing is missing" yes "$(whole exec-call.trace)"
run exec-fails 0 "worked none none " 600
run _exit 7 "worked " 300
check "_exit: nothing is missing" yes "$(whole _exit.trace)"
run reset 9 "worked " 300
for each in abort:134 segv:139; do
  run ${each%:*} ${each#*:} "worked " 300
  check "${each%:*}: nothing is missing" yes "$(whole ${each%:*}.trace)"
done
for each in term:143 kill:137; do
  how=${each%:*}
  run $how ${each#*:} "worked " -
  found=$(kernels $how.trace)
  if [ "$found" = 300 ] || [ "$(whole $how.trace)" = no ]; then echo "ok    $how: $found of 300 kernels, and it is said whether any are missing"
  else echo "FAIL  $how: $found of 300 kernels, and nothing is said to be missing"; failures=$((failures + 1)); fi
done
# A signal for the recorder alone is passed on after CUPTI was asked for its records. Here nothing else asks for them.
"$lanescope" profile -t cuda --cuda-flush-interval=60000 -f -o passed python3 work.py sleep > output 2> messages &
until grep -q worked output 2> /dev/null; do sleep 0.1; done; sleep 0.5
kill -TERM $!; wait $!
check "passed on: exit code" 143 $?
check "passed on: kernels" 300 "$(kernels passed.trace)"
check "passed on: nothing is missing" yes "$(whole passed.trace)"
# CUPTI serves one profiler at a time: a program with a profiler of its own goes on, and one of the two has the kernels.
run profiled 0 "worked " -
echo "      profiled: $(kernels profiled.trace) of 300 kernels; $(grep -m1 -i 'cupti\|profiler' messages)"

rm -rf "$folder"
exit $failures
