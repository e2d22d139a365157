#!/usr/bin/env python3
"""Trains a small network with JAX: one compiled step, run many times. Before each step, the host spends some milliseconds on its data."""
import argparse
import time

import jax
import jax.numpy as jnp
import numpy as np

parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=40)
parser.add_argument("--host-ms", type=float, default=5, help="of the host's work before each step")
options = parser.parse_args()

keys = jax.random.split(jax.random.PRNGKey(0), 4)
weights = [jax.random.normal(key, (1024, 1024), jnp.float32) * 0.02 for key in keys]


def loss(weights, x, y):
    for weight in weights:
        x = jnp.tanh(x @ weight)
    return jnp.mean((x - y) ** 2)


@jax.jit
def step(weights, x, y):
    gradients = jax.grad(loss)(weights, x, y)
    return [weight - 0.1 * gradient for weight, gradient in zip(weights, gradients)]


def batch(number):
    end = time.perf_counter() + options.host_ms / 1000
    generator = np.random.default_rng(number)
    while time.perf_counter() < end:
        data = generator.standard_normal((512, 1024), dtype=np.float32)
    return data


for number in range(options.steps):
    x = batch(number)
    weights = step(weights, x, x)
    jax.block_until_ready(weights)
print("steps", options.steps)
