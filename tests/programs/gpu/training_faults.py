"""A PyTorch training loop with one common fault, chosen by name. It has no NVTX ranges, because the fault must be found without them.

Use: training_faults.py FAULT [--steps N]

Prints the milliseconds of a step, so that the cost of a fault is known: its step minus that of `none`. A step without a fault keeps the GPU busy.
"""
import argparse
import gc
import threading
import time

import torch
from torch import nn
from torch.nn import functional

BATCH = 96
IMAGE = 160


def block(inputs, outputs, stride):
    return nn.Sequential(nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False), nn.BatchNorm2d(outputs), nn.ReLU(),
                         nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False), nn.BatchNorm2d(outputs), nn.ReLU())


def network():
    return nn.Sequential(block(3, 64, 2), block(64, 128, 1), block(128, 128, 2), block(128, 256, 1), block(256, 256, 2), nn.AdaptiveAvgPool2d(1),
                         nn.Flatten(), nn.Linear(256, 100)).cuda()


def decode_images(seconds):
    """The work of a loader without workers between two steps: decodes and transforms on the thread that launches."""
    end = time.perf_counter() + seconds
    value = torch.rand(64, 64)
    while time.perf_counter() < end:
        value = torch.tanh(value) + 0.5
    return value


def accuracy_on_host(scores, labels):
    return (scores.detach().cpu().numpy().argmax(1) == labels.cpu().numpy()).mean()


def compute_features_in_background(stop):
    count = 0
    while not stop.is_set():
        count = sum(i * i for i in range(2000)) ^ count


def training(fault, steps):
    torch.manual_seed(0)
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = fault != "full_precision"
    torch.backends.cudnn.benchmark = fault in ("new_shapes",)
    model = network()
    if fault == "many_small_updates":
        optimizer = torch.optim.Adam([parameter for part in [nn.ParameterList(nn.Parameter(torch.rand(64, device="cuda")) for _ in range(800))]
                                      for parameter in part] + list(model.parameters()), foreach=False)
    else:
        optimizer = torch.optim.Adam(model.parameters(), fused=True)
    images = [torch.rand(BATCH, 3, IMAGE, IMAGE) for _ in range(4)]
    if fault != "pageable_copies":
        images = [image.pin_memory() for image in images]
    labels = torch.randint(0, 100, (BATCH,)).pin_memory()
    if fault == "anomaly_detection":
        torch.autograd.set_detect_anomaly(True)
    graph = [{"node": i, "edges": [i]} for i in range(400000)] if fault == "garbage_collection" else []
    stop = threading.Event()
    if fault == "busy_python_thread":
        threading.Thread(target=compute_features_in_background, args=(stop,), daemon=True).start()
    history = []

    def step(index):
        if fault == "slow_loader":
            decode_images(0.015)
        if fault == "late_evaluation" and index % 10 == 9:
            decode_images(0.1)
        size = IMAGE - 16 * (index % 5) - index % 16 if fault == "new_shapes" else IMAGE
        batch = images[index % 4].cuda(non_blocking=True)[:, :, :size, :size]
        target = labels.cuda(non_blocking=True)
        optimizer.zero_grad(set_to_none=True)
        scores = model(batch)
        loss = functional.cross_entropy(scores, target)
        loss.backward()
        optimizer.step()
        if fault == "loss_each_step":
            history.append(loss.item())
        if fault == "accuracy_on_host":
            history.append(accuracy_on_host(scores, target))
        if fault == "empty_cache":
            del batch, scores, loss
            torch.cuda.empty_cache()
        if fault == "synchronize_to_time":
            torch.cuda.synchronize()
            history.append(time.perf_counter())
        if fault == "checkpoint" and index % 10 == 9:
            torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict()}, "checkpoint.pt")
        if fault == "garbage_collection":
            gc.collect()
        if fault == "scalars_to_device":
            history.append(sum(torch.tensor(float(i), device="cuda") for i in range(300)))
        if fault == "gradient_norms":
            history.append([parameter.grad.norm().item() for parameter in model.parameters()])

    for index in range(4):
        step(index)
    torch.cuda.synchronize()
    begin = time.perf_counter()
    for index in range(steps):
        step(index)
    torch.cuda.synchronize()
    print(f"{fault}: {(time.perf_counter() - begin) / steps * 1e3:.2f} ms a step", flush=True)
    stop.set()
    return len(graph)


FAULTS = ("none", "slow_loader", "late_evaluation", "loss_each_step", "accuracy_on_host", "pageable_copies", "empty_cache", "synchronize_to_time",
          "checkpoint", "garbage_collection", "busy_python_thread", "many_small_updates", "new_shapes", "full_precision", "anomaly_detection",
          "scalars_to_device", "gradient_norms")

if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("fault", choices=FAULTS)
    parser.add_argument("--steps", type=int, default=40)
    arguments = parser.parse_args()
    training(arguments.fault, arguments.steps)
