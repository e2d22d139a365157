"""Callbacks of training loops, with the packages themselves if they are installed, and budgets of tests."""

import copy
import importlib.util
import os
import pathlib
import pickle
import subprocess
import sys
import tempfile
import textwrap
import types
import unittest
import unittest.mock

import support

import lanescope
from lanescope import budget, callbacks

QUIET = {"trace": "nvtx", "sample": "none", "cpuctxsw": "none", "force": True}


def has(*modules):
    return all(importlib.util.find_spec(module) for module in modules)


def swept_idle(path):
    """The idle share, computed by walking over starts and ends in order, GPU by GPU."""
    with lanescope.open(path) as trace:
        rows = trace.kernels[["process", "device", "start", "duration"]].to_numpy()
    largest = 0.0
    for gpu in set(zip(rows["process"], rows["device"])):
        edges = []
        for process, device, start, duration in zip(*rows.values()):
            if (process, device) == gpu:
                edges += [(int(start), 1), (int(start) + int(duration), -1)]
        edges.sort(key=lambda edge: (edge[0], -edge[1]))
        idle = running = 0
        for (time, change), (following, _) in zip(edges, edges[1:]):
            running += change
            idle += following - time if running == 0 else 0
        largest = max(largest, idle / (max(time for time, _ in edges) - edges[0][0]))
    return largest


class Budgets(unittest.TestCase):
    def test_the_cost_of_recordings(self):
        for name in ("torch_training_workers0", "cuda_streams", "cause_tiny_kernels", "ranks_late0", "ranks_compute"):
            with self.subTest(recording=name):
                path = support.recording(name)
                cost = budget.cost_of(path)
                self.assertEqual(cost.kernels, sum(row["Instances"] for row in lanescope.open(path).stats("cuda_gpu_kern_sum")))
                self.assertAlmostEqual(cost.idle, swept_idle(path), places=9)
        self.assertEqual(budget.cost_of(support.recording("cpu_loader")), budget.Cost(0, 0.0))

    def test_a_block_without_a_kernel_is_over_any_budget(self):
        with tempfile.TemporaryDirectory() as folder:
            with self.assertRaisesRegex(AssertionError, "it ran no kernel.*lanescope analyze"):
                with budget.gpu_budget(pathlib.Path(folder) / "budget.trace", kernels=10, trace="nvtx"):
                    pass
            with self.assertRaisesRegex(AssertionError, "it ran no kernel.*cost1.trace"):
                with budget.gpu_budget(pathlib.Path(folder) / "cost%n", kernels=10, trace="nvtx"):
                    pass
            with self.assertRaises(KeyError):
                with budget.gpu_budget(pathlib.Path(folder) / "budget.trace", kernels=10, trace="nvtx"):
                    raise KeyError("of the test")

    @unittest.skipUnless(has("pytest"), "the plugin is tested where pytest is installed")
    def test_the_plugin_of_pytest(self):
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "test_step.py").write_text(textwrap.dedent("""
                def test_step(gpu_budget):
                    with gpu_budget(idle=0.2, trace="nvtx"):
                        pass
            """))
            done = subprocess.run([sys.executable, "-B", "-m", "pytest", "-q", "-p", "lanescope._pytest_plugin", "-p", "no:cacheprovider"], cwd=folder, text=True,
                                  capture_output=True, env={**os.environ, "PYTHONPATH": str(support.ROOT / "app" / "python")})
        self.assertIn("The block is over its budget: it ran no kernel", done.stdout)
        self.assertIn("1 failed", done.stdout)


class Trainings(unittest.TestCase):
    """The calls of a trainer, without one."""

    def test_one_that_was_interrupted_is_followed_by_another_in_a_file_of_its_own(self):
        with tempfile.TemporaryDirectory() as folder:
            steps = callbacks._Steps(pathlib.Path(folder) / "run.trace", None, {key: value for key, value in QUIET.items() if key != "force"})
            for count in (2, 3):  # the first training does not end
                steps.begin(0)
                for _ in range(count):
                    steps.step_begins()
            first_is_there = os.path.exists(f"{folder}/run.trace")
            steps.end()
            self.assertTrue(first_is_there)
            for name, count in (("run", 2), ("run-2", 3)):
                with lanescope.open(f"{folder}/{name}.trace") as trace:
                    self.assertEqual(len(trace.nvtx_ranges), count)

    def test_a_callback_can_be_sent_to_other_processes(self):
        modules = {name: types.ModuleType(name) for name in ("transformers", "lightning", "lightning.pytorch")}
        modules["transformers"].TrainerCallback = modules["lightning.pytorch"].Callback = type("Callback", (), {})
        with unittest.mock.patch.dict(sys.modules, modules):
            for make in (callbacks.transformers, callbacks.lightning):
                callback = make("run.trace", ranks=[0], schedule=lanescope.schedule(active=3), trace="nvtx")
                for other in (pickle.loads(pickle.dumps(callback)), copy.deepcopy(callback)):
                    self.assertEqual((other.steps._output, other.steps._ranks, other.steps._options), ("run.trace", [0], callback.steps._options))

    def test_steps_are_marked_in_what_another_recorder_records(self):
        with tempfile.TemporaryDirectory() as folder:
            text = """
                from lanescope import callbacks
                steps = callbacks._Steps("own.trace", None, {"trace": "nvtx", "sample": "none"})
                for _ in range(2):
                    steps.begin(0)
                    for _ in range(3): steps.step_begins()
                    steps.end()
            """
            done = subprocess.run([support.program(), "profile", "-t", "nvtx", "-s", "none", "--cpuctxsw=none", "-o", "x", sys.executable, "-B", "-c", textwrap.dedent(text)],
                                  cwd=folder, text=True, capture_output=True, check=True, env={**os.environ, "PYTHONPATH": str(support.ROOT / "app" / "python")})
            self.assertIn("This process is being recorded already", done.stderr)
            self.assertFalse(os.path.exists(f"{folder}/own.trace"))
            with lanescope.open(f"{folder}/x.trace") as trace:
                self.assertEqual(list(trace.nvtx_ranges["name"]), ["step 0", "step 1", "step 2"] * 2)

    def test_a_training_goes_on_where_nothing_can_be_recorded(self):
        with tempfile.TemporaryDirectory() as folder:
            steps = callbacks._Steps(pathlib.Path(folder) / "none" / "run.trace", None, dict(QUIET))
            with self.assertWarns(lanescope.RecordingWarning):
                steps.begin(0)
            steps.step_begins()
            steps.step_begins()
            steps.end()


class Loops(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(folder.name)

    def steps(self, recording):
        with recording.open() as trace:
            rows = trace.nvtx_ranges.to_numpy()
        return [name for name in rows["name"] if name.startswith("step ")]

    @unittest.skipUnless(has("torch", "transformers", "accelerate"), "the callback for Hugging Face's Trainer is tested where transformers is installed")
    def test_the_trainer_of_hugging_face(self):
        import torch
        import transformers

        class Model(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.layer = torch.nn.Linear(8, 8)

            def forward(self, x=None, labels=None):
                return {"loss": (self.layer(x) - labels).square().mean()}

        callback = lanescope.callbacks.transformers("trainer.trace", schedule=lanescope.schedule(wait=2, warmup=1, active=3), **QUIET)
        data = [{"x": torch.randn(8), "labels": torch.randn(8)} for _ in range(80)]
        settings = transformers.TrainingArguments(output_dir="trained", max_steps=10, report_to=[], save_strategy="no", disable_tqdm=True)
        transformers.Trainer(model=Model(), args=settings, train_dataset=data, callbacks=[callback]).train()
        self.assertEqual(self.steps(callback.steps.recording), ["step 3", "step 4", "step 5"])

    @unittest.skipUnless(has("torch") and (has("lightning") or has("pytorch_lightning")), "the callback for Lightning is tested where it is installed")
    def test_lightning(self):
        import torch
        try:
            import lightning.pytorch as lightning
        except ModuleNotFoundError:
            import pytorch_lightning as lightning

        class Module(lightning.LightningModule):
            def __init__(self, breaks_at):
                super().__init__()
                self.layer, self.breaks_at = torch.nn.Linear(8, 8), breaks_at

            def training_step(self, batch, index):
                if index == self.breaks_at:
                    raise KeyError("of the training")
                return self.layer(batch).square().mean()

            def configure_optimizers(self):
                return torch.optim.SGD(self.parameters(), lr=1e-3)

        def train(breaks_at):
            callback = lanescope.callbacks.lightning("lightning.trace", ranks=[0], **QUIET)
            other = lanescope.callbacks.lightning("other.trace", ranks=[1], **QUIET)
            trainer = lightning.Trainer(max_steps=4, callbacks=[callback, other], logger=False, enable_checkpointing=False, enable_progress_bar=False)
            try:
                trainer.fit(Module(breaks_at), torch.utils.data.DataLoader(torch.randn(64, 8), batch_size=8))
            finally:
                self.assertIsNone(other.steps.recording)
                self.recording = callback.steps.recording

        train(breaks_at=None)
        self.assertEqual(self.steps(self.recording), ["step 0", "step 1", "step 2", "step 3"])
        with self.assertRaises(KeyError):
            train(breaks_at=2)
        self.assertEqual(self.steps(self.recording), ["step 0", "step 1", "step 2"])


if __name__ == "__main__":
    unittest.main()
