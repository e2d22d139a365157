"""Trains ResNet-18 with loader workers that are forked anew for each epoch, and prints the durations of epochs and forks.

Use: loader_forks.py SECONDS WORKERS. Needs a GPU, torch and torchvision.
"""

import os
import statistics
import sys
import time
import warnings

import torch
import torchvision

WARM_EPOCHS = 3
IMAGES, BATCH = 256, 32
fork = os.fork
fork_times = []


def timed_fork():
    begin = time.perf_counter()
    child = fork()
    if child:
        fork_times.append(time.perf_counter() - begin)
    return child


class Images(torch.utils.data.Dataset):
    def __len__(self):
        return IMAGES

    def __getitem__(self, index):
        return torch.rand(3, 96, 96, generator=torch.Generator().manual_seed(index)), index % 10


def main(seconds, workers):
    model = torchvision.models.resnet18(num_classes=10).cuda()
    optimizer = torch.optim.SGD(model.parameters(), 0.01)

    def epoch():
        loader = torch.utils.data.DataLoader(Images(), batch_size=BATCH, num_workers=workers, pin_memory=True)
        for images, labels in loader:
            loss = torch.nn.functional.cross_entropy(model(images.cuda(non_blocking=True)), labels.cuda(non_blocking=True))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        loss.item()

    for _ in range(WARM_EPOCHS):
        epoch()
    fork_times.clear()
    epoch_times = []
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        begin = time.perf_counter()
        epoch()
        epoch_times.append(time.perf_counter() - begin)
    print(
        f"epochs {len(epoch_times)}, median {statistics.median(epoch_times) * 1e3:.0f} ms, most {max(epoch_times) * 1e3:.0f} ms; "
        f"fork median {statistics.median(fork_times) * 1e3:.1f} ms, most {max(fork_times) * 1e3:.1f} ms",
        flush=True,
    )


if __name__ == "__main__":
    warnings.filterwarnings("ignore", category=DeprecationWarning)
    os.fork = timed_fork
    main(float(sys.argv[1]), int(sys.argv[2]))
