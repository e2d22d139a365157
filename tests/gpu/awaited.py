"""Compares what a recording says that matrix products in TF32 would win with what they do win, in programs that wait for their GPU and in programs that do not.

Use: awaited.py LANESCOPE. Needs a GPU with tensor cores for TF32 and PyTorch; takes about two minutes. Each program is recorded three times in turns in FP32
and in TF32, without samples of threads. Prints for each: the median of the mean steps in both, the time won per step, and the upper limit that the
recordings in FP32 state (column Cost minus Hidden of the rule fp32_products, per step); and whether nothing more was won than noise explains.
"""
import csv
import io
import pathlib
import statistics
import subprocess
import sys
import tempfile

PROGRAMS = pathlib.Path(__file__).resolve().parent.parent / "programs" / "gpu"
SETTING = "import torch, runpy, sys; torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = {tf32}; sys.argv = sys.argv[1:]; runpy.run_path(sys.argv[0], run_name='__main__')"
CASES = {
    "training that waits for its loader": ["-c", SETTING, str(PROGRAMS / "torch_training.py"), "--workers", "0", "--steps", "40"],
    "training with four loaders": ["-c", SETTING, str(PROGRAMS / "torch_training.py"), "--workers", "4", "--steps", "40"],
    "transformer": [str(PROGRAMS / "transformer_step.py"), "--steps", "40", "--precision", "{precision}"],
}


def record(lanescope, words, tf32, file):
    words = [word.replace("{tf32}", str(tf32)).replace("{precision}", "tf32" if tf32 else "fp32") for word in words]
    subprocess.run([lanescope, "profile", "-f", "-t", "cuda,nvtx", "-s", "none", "--cpuctxsw=none", "-o", file, "python3", *words], check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def rows(lanescope, *arguments):
    text = subprocess.run([lanescope, *arguments, "-f", "csv", "-q"], check=True, capture_output=True, text=True).stdout
    return list(csv.DictReader(io.StringIO(text)))


def mean_step(lanescope, file):
    """Mean step in ns from the tenth step on: from the start of one to the start of the next."""
    begins = sorted(int(row["Start (ns)"]) for row in rows(lanescope, "stats", "-r", "nvtx_pushpop_trace", file) if row["Name"].lstrip(":").startswith("step"))
    return (begins[-1] - begins[9]) / (len(begins) - 10)


def told(lanescope, file):
    """The stated gain per step in ns, and whether there is such a finding. The loop has 39 steps or so."""
    found = [row for row in rows(lanescope, "analyze", file) if row["Rule"] == "fp32_products" and row["When"] != "once"]
    return [(int(row["Cost (ns)"]), int(row["Hidden (ns)"])) for row in found][:1]


def main():
    lanescope = str(pathlib.Path(sys.argv[1]).resolve())
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, words in CASES.items():
            steps, answers = {False: [], True: []}, []
            for _ in range(3):
                for tf32 in (False, True):
                    file = f"{folder}/{tf32}.trace"
                    record(lanescope, words, tf32, file)
                    steps[tf32].append(mean_step(lanescope, file))
                    if not tf32:
                        answers += told(lanescope, file)
            won = statistics.median(steps[False]) - statistics.median(steps[True])
            noise = max(statistics.pstdev(steps[False]), statistics.pstdev(steps[True]))
            cost = statistics.median([cost for cost, _ in answers] or [0]) / 39
            awaited = statistics.median([cost - hidden for cost, hidden in answers] or [0]) / 39
            is_kept = won <= awaited + 2 * noise + 0.02 * statistics.median(steps[False])
            failures += not is_kept
            print(f"{'PASS' if is_kept else 'FAIL'}  {name}: a step {statistics.median(steps[False]) / 1e6:.3f} -> {statistics.median(steps[True]) / 1e6:.3f} ms "
                  f"(±{noise / 1e6:.3f}), won {won / 1e6:.3f} ms; told up to {awaited / 1e6:.3f} ms, {cost / 1e6:.3f} where the CPU keeps up", flush=True)
    print(f"{failures} failed")
    return failures != 0


sys.exit(main())
