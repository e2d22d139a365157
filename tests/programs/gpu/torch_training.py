"""A PyTorch training loop that a slow data loader starves, with NVTX around data, forward, backward and optimizer.

Use: torch_training.py [--workers N] [--steps N] [--count-step K]

Without workers the transform runs between two steps and the GPU waits for it; with four it runs in parallel. --count-step K counts the GPU
kernels of step K with torch.profiler and prints them, to compare with a recording of another run.
"""
import argparse
import time

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

BATCH = 32
TRANSFORM_SECONDS = 0.0004  # per sample; 12.8 ms per batch on one worker


class SlowDataset(Dataset):
    def __init__(self, samples):
        self.samples = samples

    def __len__(self):
        return self.samples

    def __getitem__(self, index):
        end = time.perf_counter() + TRANSFORM_SECONDS
        value = torch.full((3, 64, 64), float(index % 17))
        while time.perf_counter() < end:  # a transform that computes, as real ones do
            value = value * 1.0001
        return value, index % 10


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--workers", type=int, default=0)
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--count-step", type=int, default=-1)
    arguments = parser.parse_args()

    torch.manual_seed(0)
    model = nn.Sequential(nn.Conv2d(3, 64, 3, padding=1), nn.ReLU(), nn.Conv2d(64, 128, 3, padding=1, stride=2), nn.ReLU(), nn.Flatten(),
                          nn.Linear(128 * 32 * 32, 512), nn.ReLU(), nn.Linear(512, 10)).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    loader = DataLoader(SlowDataset(BATCH * arguments.steps), batch_size=BATCH, num_workers=arguments.workers, pin_memory=True)
    batches = iter(loader)

    def step(index):
        with torch.cuda.nvtx.range(f"step {index}"):
            with torch.cuda.nvtx.range("data"):
                values, labels = next(batches)
                values = values.cuda(non_blocking=True)
                labels = labels.cuda(non_blocking=True)
            with torch.cuda.nvtx.range("forward"):
                loss = nn.functional.cross_entropy(model(values), labels)
            with torch.cuda.nvtx.range("backward"):
                loss.backward()
            with torch.cuda.nvtx.range("optimizer"):
                optimizer.step()
                optimizer.zero_grad(set_to_none=True)
            torch.cuda.synchronize()

    begin = time.perf_counter()
    for index in range(arguments.steps):
        if index == arguments.count_step:
            with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA, torch.profiler.ProfilerActivity.CPU]) as profile:
                step(index)
            kernels = [event for event in profile.events() if str(event.device_type).endswith("CUDA")]
            print("kernels of step", index, ":", sum(1 for k in kernels if not k.name.startswith(("Memcpy", "Memset")) and not k.is_user_annotation))
        else:
            step(index)
    print(f"workers {arguments.workers} steps {arguments.steps} ms/step {(time.perf_counter() - begin) * 1e3 / arguments.steps:.2f}")


if __name__ == "__main__":
    main()
