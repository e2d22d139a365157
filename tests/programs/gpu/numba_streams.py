"""Normalises an array in chunks over N CUDA streams with Numba.

Use: numba_streams.py [--streams N] [--bug]

With --bug the list of streams is `[cuda.stream()] * N`: one stream object N times, so that nothing overlaps. A timeline then shows two
streams (the default stream, which prepares the data, and that one) instead of N + 1.
"""
import argparse

import numpy as np

if not hasattr(np, "row_stack"):  # NumPy 2.5 dropped it, and numba-cuda 0.68 still asks for it
    np.row_stack = np.vstack
from numba import cuda  # noqa: E402

CHUNKS_PER_STREAM = 4
CHUNK = 1 << 20


@cuda.jit
def normalise(values, mean, deviation):
    i = cuda.grid(1)
    if i < values.size:
        values[i] = (values[i] - mean) / deviation


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--streams", type=int, default=4)
    parser.add_argument("--bug", action="store_true")
    arguments = parser.parse_args()
    n = arguments.streams
    streams = [cuda.stream()] * n if arguments.bug else [cuda.stream() for _ in range(n)]

    host = cuda.pinned_array(n * CHUNKS_PER_STREAM * CHUNK, dtype=np.float32)
    host[:] = np.random.default_rng(0).normal(3.0, 2.0, host.size).astype(np.float32)
    mean, deviation = float(host.mean()), float(host.std())

    warm = cuda.to_device(np.zeros(1, dtype=np.float32))  # the default stream compiles and runs once
    normalise[1, 1](warm, 0.0, 1.0)
    cuda.synchronize()

    for chunk in range(n * CHUNKS_PER_STREAM):
        stream = streams[chunk % n]
        part = host[chunk * CHUNK:(chunk + 1) * CHUNK]
        device = cuda.to_device(part, stream=stream)
        normalise[(CHUNK + 255) // 256, 256, stream](device, mean, deviation)
        device.copy_to_host(part, stream=stream)
    cuda.synchronize()
    print(f"streams {n} bug {arguments.bug} chunks {n * CHUNKS_PER_STREAM} mean {host.mean():.4f} deviation {host.std():.4f}")


if __name__ == "__main__":
    main()
