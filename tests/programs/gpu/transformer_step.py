"""Trains two layers of a transformer for some steps in one precision: the matrix products of a step run with or without tensor cores.

Use: transformer_step.py [--precision fp32|tf32|bf16] [--steps N]

The layers are 1,024 wide with 16 heads, over 8 sequences of 512; each step has the range `step N`. fp32 forbids TF32, so that matrix products run on
FP32 units; tf32 and bf16 (under autocast) run them on tensor cores. Prints the precision and the median milliseconds of a step.
"""
import argparse
import statistics
import time

import torch


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--precision", choices=["fp32", "tf32", "bf16"], default="fp32")
    parser.add_argument("--steps", type=int, default=20)
    arguments = parser.parse_args()
    torch.manual_seed(0)
    torch.backends.cuda.matmul.allow_tf32 = arguments.precision == "tf32"
    layers = [torch.nn.TransformerEncoderLayer(1024, 16, 4096, batch_first=True) for _ in range(2)]
    model = torch.nn.Sequential(*layers).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    data = torch.randn(8, 512, 1024, device="cuda")
    times = []
    for step in range(arguments.steps):
        torch.cuda.synchronize()
        begin = time.perf_counter()
        with torch.cuda.nvtx.range(f"step {step}"):
            with torch.autocast("cuda", dtype=torch.bfloat16, enabled=arguments.precision == "bf16"):
                loss = model(data).square().mean()
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
            torch.cuda.synchronize()
        times.append(time.perf_counter() - begin)
    print(f"{arguments.precision}: {statistics.median(times[len(times) // 2:]) * 1e3:.3f} ms a step")


if __name__ == "__main__":
    main()
