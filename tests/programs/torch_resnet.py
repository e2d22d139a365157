"""Trains torchvision's ResNet-18 on random images that worker processes make, and prints how many steps there were.

Use: torch_resnet.py [--workers N] [--steps N] [--epochs N] [--batch N] [--exit CODE]

Each epoch starts its workers anew, as training does, and the loader's threads pin the memory.
"""
import argparse
import sys

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class RandomImages(Dataset):
    def __init__(self, count):
        self.count = count

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        return torch.rand(3, 224, 224), index % 1000


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--workers", type=int, default=8)
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--exit", type=int, default=0)
    arguments = parser.parse_args()
    from torchvision.models import resnet18

    device = "cuda" if torch.cuda.is_available() else "cpu"
    model = resnet18().to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    steps = 0
    for epoch in range(arguments.epochs):
        loader = DataLoader(RandomImages(arguments.batch * arguments.steps), batch_size=arguments.batch, num_workers=arguments.workers,
                            pin_memory=device == "cuda")
        for images, labels in loader:
            if device == "cuda":
                torch.cuda.nvtx.range_push(f"step {steps}")
            loss = nn.functional.cross_entropy(model(images.to(device, non_blocking=True)), labels.to(device, non_blocking=True))
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
            if device == "cuda":
                torch.cuda.nvtx.range_pop()
            steps += 1
    if device == "cuda":
        torch.cuda.synchronize()
    print("steps", steps, flush=True)
    sys.exit(arguments.exit)


main()
