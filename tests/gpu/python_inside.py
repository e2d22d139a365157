#!/usr/bin/env python3
"""Records steps of PyTorch from inside the program that runs them, as in a notebook, with the package `lanescope`.

python_inside.py [LANESCOPE]

The recording must contain what the steps do by construction: the number of kernels, the bytes of copies, the names of ranges. Prints a line for each check
and for each package that is missing, and exits with the number of failed checks. Takes about a minute. Needs a GPU, PyTorch, numpy,
zstandard and xxhash; IPython, transformers with accelerate, and lightning are tried if they are installed.
"""
import importlib.util
import os
import pathlib
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
os.environ["LANESCOPE"] = str(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build" / "dev" / "bin" / "lanescope").resolve())
sys.path.insert(0, str(ROOT / "app" / "python"))

import torch  # noqa: E402

import lanescope  # noqa: E402
import lanescope.callbacks  # noqa: E402
from lanescope.budget import gpu_budget  # noqa: E402

KERNELS, BYTES = 20, 4 << 20  # per step
QUIET = {"trace": ["cuda", "nvtx"], "sample": "none", "cpuctxsw": "none", "force": True}
failures = 0
values = torch.ones(BYTES // 4, device="cuda")


def check(what, found, expected):
    global failures
    failures += found != expected
    print("PASS" if found == expected else "FAIL", what + ":", found, *([] if found == expected else ["instead of", expected]), flush=True)


def step():
    with lanescope.annotate("forward"):
        for _ in range(KERNELS):
            values.sin_()
    with lanescope.annotate("fetch", payload=BYTES):
        values.cpu()


def holds(what, path, steps, names):
    """Checks that a file has exactly these steps, and the ranges of these names, in order."""
    with lanescope.open(path) as trace:
        check(f"{what}: something is missing", bool(trace.lost), False)
        kernels, copies, ranges = trace.kernels.to_numpy(), trace.copies.to_numpy(), trace.nvtx_ranges.to_numpy()
    check(f"{what}: kernels", sum("sin" in name for name in kernels["name"]), KERNELS * steps)
    check(f"{what}: bytes that were copied", int(sum(copies["bytes"])), BYTES * steps)
    check(f"{what}: ranges", [name for _, name in sorted(zip(ranges["start"].tolist(), ranges["name"]))], names)
    # A copy to pageable memory waits, so each kernel has ended before the last range of its step does.
    fetches = sorted((start, start + duration) for start, duration, name in zip(ranges["start"].tolist(), ranges["duration"].tolist(), ranges["name"]) if name == "fetch")
    ends = sorted(int(start) + int(duration) for start, duration, name in zip(kernels["start"], kernels["duration"], kernels["name"]) if "sin" in name)
    late = sum(end > fetches[number // KERNELS][1] for number, end in enumerate(ends)) if len(fetches) * KERNELS == len(ends) else None
    check(f"{what}: kernels that end behind their step", late, 0)


def blocks():
    with lanescope.record("block.trace", **QUIET) as recording:
        for _ in range(5):
            step()
    holds("a block", recording.path, 5, ["forward", "fetch"] * 5)
    step()  # belongs to no recording
    lanescope.start("started.trace", **QUIET)
    step()
    holds("start and stop", lanescope.stop().path, 1, ["forward", "fetch"])


def functions():
    @lanescope.profile("epoch%n.trace", **QUIET)
    def epoch():
        step()
        step()

    epoch()
    step()
    epoch()
    check("a function: its files", sorted(str(path) for path in pathlib.Path().glob("epoch*")), ["epoch1.trace", "epoch2.trace"])
    for path in sorted(pathlib.Path().glob("epoch*")):
        holds("a function", path, 2, ["functions.<locals>.epoch"] + ["forward", "fetch"] * 2)


def schedules():
    with lanescope.record("train.trace", schedule=lanescope.schedule(wait=2, warmup=1, active=2, repeat=2), **QUIET) as recording:
        for _ in range(12):
            step()
            recording.step()
    check("a schedule: its files", [pathlib.Path(path).name for path in recording.paths], ["train.1.trace", "train.2.trace"])
    for path, first in zip(recording.paths, (3, 8)):
        holds("a schedule", path, 2, [f"step {first}", "forward", "fetch", f"step {first + 1}", "forward", "fetch"])


def budgets():
    def over(**limits):
        try:
            with gpu_budget("budget.trace", **limits):
                for _ in range(KERNELS):
                    values.sin_()
                torch.cuda.synchronize()
        except AssertionError as error:
            return str(error)
        return ""

    check("a budget of as many kernels", over(kernels=KERNELS), "")
    check("a budget of one kernel less", f"it ran {KERNELS} kernels, and {KERNELS - 1} are allowed" in over(kernels=KERNELS - 1), True)


def notebook():
    from IPython.core.interactiveshell import InteractiveShell
    from IPython.utils.capture import capture_output

    shell = InteractiveShell.instance()
    shell.run_line_magic("load_ext", "lanescope")
    shell.user_ns["step"] = step
    with capture_output() as said:
        shell.run_cell("%%lanescope -t cuda,nvtx -s none --cpuctxsw=none -o cell.trace -v trace\nfor _ in range(3): step()")
    pages = [output.data["text/html"] for output in said.outputs if "text/html" in output.data]
    check("a notebook's cell: pages with a picture and without a script", [("<svg" in page, "<script" in page) for page in pages], [(True, False)])
    check("a notebook's cell: names of kernels on its page", any("sin" in page for page in pages), True)
    holds("a notebook's cell", "cell.trace", 3, ["forward", "fetch"] * 3)


class Layer(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(64, 64)

    def forward(self, x=None, labels=None):
        return {"loss": (self.layer(x) - labels).square().mean()}


def recorded_steps(what, path, expected):
    with lanescope.open(path) as trace:
        names = [name for name in trace.nvtx_ranges.to_numpy()["name"] if name.startswith("step ")]
        kernels = len(trace.kernels)
    check(f"{what}: steps", names, expected)
    check(f"{what}: whether each had kernels", kernels >= len(expected), True)


def hugging_face():
    import transformers

    callback = lanescope.callbacks.transformers("trainer.trace", schedule=lanescope.schedule(wait=2, warmup=1, active=3), **QUIET)
    data = [{"x": torch.randn(64), "labels": torch.randn(64)} for _ in range(80)]
    settings = transformers.TrainingArguments(output_dir="trained", max_steps=10, report_to=[], save_strategy="no", disable_tqdm=True)
    transformers.Trainer(model=Layer(), args=settings, train_dataset=data, callbacks=[callback]).train()
    recorded_steps("Hugging Face's Trainer", callback.steps.recording.path, ["step 3", "step 4", "step 5"])


def lightning():
    import lightning.pytorch as package

    class Module(package.LightningModule):
        def __init__(self):
            super().__init__()
            self.layer = torch.nn.Linear(64, 64)

        def training_step(self, batch, index):
            return self.layer(batch).square().mean()

        def configure_optimizers(self):
            return torch.optim.SGD(self.parameters(), lr=1e-3)

    callback = lanescope.callbacks.lightning("lightning.trace", **QUIET)
    trainer = package.Trainer(max_steps=4, accelerator="gpu", devices=1, callbacks=[callback], logger=False, enable_checkpointing=False, enable_progress_bar=False)
    trainer.fit(Module(), torch.utils.data.DataLoader(torch.randn(64, 64), batch_size=8))
    recorded_steps("Lightning", callback.steps.recording.path, ["step 0", "step 1", "step 2", "step 3"])


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    step()  # warm-up: sets up what is set up only once
    torch.cuda.synchronize()
    for part, packages in ((blocks, ()), (functions, ()), (schedules, ()), (budgets, ()), (notebook, ("IPython",)), (hugging_face, ("transformers", "accelerate")),
                           (lightning, ("lightning",))):
        missing = [package for package in packages if importlib.util.find_spec(package) is None]
        if missing:
            print(f"not tried: {part.__name__}: {', '.join(missing)} is not installed", flush=True)
            continue
        try:
            part()
        except Exception as error:  # the other parts are still tried
            failures += 1
            print(f"FAIL {part.__name__}: {type(error).__name__}: {error}", flush=True)
    os.chdir("/")
print(failures, "failed")
sys.exit(min(failures, 100))
