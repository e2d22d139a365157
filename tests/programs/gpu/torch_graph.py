"""Captures a small network into a CUDA graph and replays it.

Use: torch_graph.py [--replays N]

Every kernel of a replay belongs to the one call that launched the graph.
"""
import argparse

import torch

LAYERS = 10


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--replays", type=int, default=50)
    arguments = parser.parse_args()

    torch.manual_seed(0)
    model = torch.nn.Sequential(*[torch.nn.Linear(256, 256) for _ in range(LAYERS)]).cuda().eval()
    values = torch.randn(32, 256, device="cuda")
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.no_grad(), torch.cuda.stream(side):
        for _ in range(3):
            model(values)
    torch.cuda.current_stream().wait_stream(side)

    graph = torch.cuda.CUDAGraph()
    with torch.no_grad(), torch.cuda.graph(graph):
        model(values)
    torch.cuda.synchronize()
    for index in range(arguments.replays):
        with torch.cuda.nvtx.range(f"replay {index}"):
            graph.replay()
    torch.cuda.synchronize()
    print(f"replays {arguments.replays} layers {LAYERS}")


if __name__ == "__main__":
    main()
