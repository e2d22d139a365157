"""The cost of recording for programs that use all processors. saturated.sh runs this program.

One program for each way is started and warmed up; then one at a time runs a burst of steps, so compared bursts ran within seconds of each
other. GPU metrics are those of the whole GPU, whoever records: a recorder of an idle program samples them during a burst of the program
that is not recorded.
"""
import argparse
import contextlib
import os
import random
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time

WORKLOADS = ["resnet18", "resnet18-8", "decoding", "compile", "jax", "ddp"]
# Share of the remaining time that a workload may take when it starts.
SHARES = {"resnet18": 0.45, "resnet18-8": 0.3, "decoding": 0.3, "compile": 0.4, "jax": 0.5, "ddp": 1.0}
BURST = 2.0  # approximate seconds of a burst


# --- programs: each returns a function that runs the given number of steps and waits for the GPU


def resnet18(workers, on_gpu=0):
    """Batches of 32 from a loader with `workers` workers, or one batch of `on_gpu` images that stays on the GPU."""
    import torch
    from torch import nn

    torch.manual_seed(0)

    class Block(nn.Module):
        def __init__(self, before, width, stride):
            super().__init__()
            self.body = nn.Sequential(nn.Conv2d(before, width, 3, stride, 1, bias=False), nn.BatchNorm2d(width), nn.ReLU(inplace=True),
                                      nn.Conv2d(width, width, 3, 1, 1, bias=False), nn.BatchNorm2d(width))
            same = stride == 1 and before == width
            self.beside = nn.Identity() if same else nn.Sequential(nn.Conv2d(before, width, 1, stride, bias=False), nn.BatchNorm2d(width))

        def forward(self, x):
            return torch.relu(self.body(x) + self.beside(x))

    layers, before = [nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(inplace=True), nn.MaxPool2d(3, 2, 1)], 64
    for width, stride in ((64, 1), (128, 2), (256, 2), (512, 2)):
        layers += [Block(before, width, stride), Block(width, width, 1)]
        before = width
    model = nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, 1000)).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)

    class Images(torch.utils.data.Dataset):
        """Decoded images, cropped, flipped, resized and normalised on the processor, as in a loader."""
        pool = torch.randint(0, 256, (64, 3, 320, 320), dtype=torch.uint8)
        mean = torch.tensor([0.485, 0.456, 0.406]).view(3, 1, 1)
        deviation = torch.tensor([0.229, 0.224, 0.225]).view(3, 1, 1)

        def __len__(self):
            return 1 << 20

        def __getitem__(self, index):
            top, left = index % 32, index // 32 % 32
            image = self.pool[index % 64][:, top:top + 288, left:left + 288].float().div_(255)
            if index % 2:
                image = image.flip(2)
            image = nn.functional.interpolate(image[None], size=(224, 224), mode="bilinear", antialias=True, align_corners=False)[0]
            return (image - self.mean) / self.deviation, index % 1000

    loader = iter(torch.utils.data.DataLoader(Images(), batch_size=32, num_workers=workers, pin_memory=workers > 0))
    resident = (torch.randn(on_gpu, 3, 224, 224, device="cuda"), torch.arange(on_gpu, device="cuda")) if on_gpu else None

    def steps(count):
        for _ in range(count):
            images, labels = resident or next(loader)
            loss = nn.functional.cross_entropy(model(images.cuda(non_blocking=True)), labels.cuda(non_blocking=True))
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
        torch.cuda.synchronize()

    return steps


def decoding():
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(0)
    config = LlamaConfig(hidden_size=1024, intermediate_size=2816, num_hidden_layers=12, num_attention_heads=16, num_key_value_heads=4,
                         vocab_size=32000, max_position_embeddings=4096)
    model = LlamaForCausalLM(config).to("cuda", torch.bfloat16).eval()
    prompt = torch.randint(0, 32000, (4, 128), device="cuda")

    @torch.inference_mode()
    def steps(count):  # a step is a token
        cache, tokens = None, prompt
        for _ in range(count):
            result = model(input_ids=tokens, past_key_values=cache, use_cache=True)
            cache, tokens = result.past_key_values, result.logits[:, -1:].argmax(-1)
            tokens.cpu()  # like a server that streams tokens
        torch.cuda.synchronize()

    return steps


def compiled():
    import torch

    torch.manual_seed(0)
    layers = [torch.nn.TransformerEncoderLayer(512, 8, 2048, batch_first=True, dropout=0.0) for _ in range(4)]
    model = torch.compile(torch.nn.Sequential(*layers).cuda())
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    data = torch.randn(8, 128, 512, device="cuda")

    def steps(count):
        for _ in range(count):
            model(data).square().mean().backward()
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
        torch.cuda.synchronize()

    return steps


def jax_program():
    os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"] = "false"
    import jax
    import jax.numpy as jnp

    keys = jax.random.split(jax.random.PRNGKey(0), 8)
    weights = [jax.random.normal(key, (1024, 1024)) * 0.03 for key in keys]
    data = jax.random.normal(keys[0], (512, 1024))

    def loss(parameters):
        x = data
        for weight in parameters:
            x = jax.nn.gelu(x @ weight)
        return jnp.mean(x * x)

    @jax.jit
    def step(parameters):
        return [weight - 0.01 * gradient for weight, gradient in zip(parameters, jax.grad(loss)(parameters))]

    def steps(count):
        nonlocal weights
        for _ in range(count):
            weights = step(weights)
        jax.block_until_ready(weights)

    return steps


def ddp():
    import torch
    import torch.distributed as dist

    rank, gpus = int(os.environ["RANK"]), torch.cuda.device_count()
    torch.cuda.set_device(rank % gpus)
    dist.init_process_group("nccl" if gpus >= int(os.environ["WORLD_SIZE"]) else "gloo")
    torch.manual_seed(0)
    model = torch.nn.Sequential(*[torch.nn.TransformerEncoderLayer(512, 8, 2048, batch_first=True) for _ in range(4)]).cuda()
    model = torch.nn.parallel.DistributedDataParallel(model)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    data = torch.randn(8, 128, 512, device="cuda")

    def steps(count):
        for _ in range(count):
            model(data).square().mean().backward()
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
        torch.cuda.synchronize()

    def together(count):  # rank 0 calls this and tells the others
        wanted = torch.tensor([count])
        if dist.get_backend() == "nccl":
            wanted = wanted.cuda()
        dist.broadcast(wanted, 0)
        steps(int(wanted))
        return int(wanted)

    if rank != 0:
        while together(0):
            pass
        dist.destroy_process_group()
        raise SystemExit
    return together


PROGRAMS = {"resnet18": lambda: resnet18(0), "resnet18-8": lambda: resnet18(8), "decoding": decoding, "compile": compiled, "jax": jax_program,
            "ddp": ddp}


def serve(path, workload, way):
    """Connects to PATH, says WAY and the ms of a step, and answers each number of steps with the ms per step."""
    steps = PROGRAMS[workload]()

    def burst(count):
        begin = time.perf_counter()
        steps(count)
        return (time.perf_counter() - begin) * 1000 / count

    burst(3)
    burst(5)
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(path)
        with connection.makefile("rw") as lines:
            print(way, burst(5), sep="\t", file=lines, flush=True)
            for line in lines:
                print(burst(int(line)), file=lines, flush=True)
    if workload == "ddp":
        steps(0)


# --- ways of recording


def ways_of(arguments, folder):
    """The ways by name: the command before a program, and that of a recorder of GPU metrics, which precedes an idle program."""
    lanescope = f"{arguments.folder}/bin/lanescope"
    aspects = {"samples": ["-t", "none", "--sample=process-tree", "--cpuctxsw=none"],
               "thread states": ["-t", "none", "--sample=none", "--cpuctxsw=process-tree"],
               "Python stacks": ["-t", "none", "--sample=none", "--cpuctxsw=none", "--python-sampling=true"],
               "osrt": ["-t", "osrt", "--sample=none", "--cpuctxsw=none"]}
    programs, recorders = {"alone": []}, {}
    for tool, path in (("nsys", arguments.nsys), ("lanescope", lanescope)):
        if not path:
            continue
        for number, (aspect, options) in enumerate(aspects.items()):
            force = ["-f", "true"] if tool == "nsys" else ["-f"]
            programs[f"{tool}: {aspect}"] = [path, "profile", *force, "-o", f"{folder}/{tool}{number}", *options]
        for hertz in (10000, 2000):
            force = ["-f", "true"] if tool == "nsys" else ["-f"]
            recorders[f"{tool}: GPU metrics, {hertz // 1000} kHz"] = [
                path, "profile", *force, "-o", f"{folder}/{tool}metrics", "-t", "none", "--sample=none", "--cpuctxsw=none",
                "--gpu-metrics-devices=all", f"--gpu-metrics-frequency={hertz}"]
    chosen = arguments.ways.split("|")
    return ({way: command for way, command in programs.items() if way == "alone" or any(text in way for text in chosen)},
            {way: command for way, command in recorders.items() if any(text in way for text in chosen)})


def environment_of(arguments):
    return {**os.environ, "LANESCOPE_GPU_METRICS": f"{arguments.folder}/bin/lanescope-gpu-metrics --account",
            "LD_LIBRARY_PATH": ":".join(filter(None, [f"{arguments.folder}/run", os.environ.get("LD_LIBRARY_PATH")]))}


class Notes:
    """What recorders printed about themselves, each sentence once."""

    def __init__(self):
        self.lines = []

    def take(self, way, text):
        for line in text.splitlines():
            if any(word in line for word in ("samples in", "missing", "rror", "can't", "could not", "arning")):
                entry = f"{way}: {line.strip()[:240]}"
                if entry not in self.lines:
                    self.lines.append(entry)


@contextlib.contextmanager
def metrics_recorded(way, command, arguments, notes):
    """A context in which a recorder samples GPU metrics; False if it does not start. At the end it waits until the recorder has ended, and appends the
    seconds to `ended`."""
    ended = []
    with tempfile.TemporaryFile("w+") as messages:
        process = subprocess.Popen([*command, "sh", "-c", "echo ready; cat > /dev/null"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   stderr=messages, text=True, env=environment_of(arguments))
        ready = any("ready" in line for line in iter(process.stdout.readline, ""))
        time.sleep(0.3)  # until the recorder's own start is over
        yield ready, ended
        begin = time.monotonic()
        process.stdin.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            notes.take(way, process.stdout.read())
            process.wait(60)
            ended.append(time.monotonic() - begin)
        process.kill()
        process.wait()
        messages.seek(0)
        notes.take(way, messages.read())


@contextlib.contextmanager
def programs_of(arguments, workload, commands, folder, notes, deadline):
    """A warm program of each way, by name: the lines to talk to it, and its initial ms per step."""
    with socket.socket(socket.AF_UNIX) as server, contextlib.ExitStack() as open_lines:
        path = f"{folder}/socket"
        server.bind(path)
        server.listen(len(commands))
        program = [sys.executable, os.path.abspath(__file__), "--serve", path, workload]
        if workload == "ddp":
            program[:1] = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "4"]
        processes, lines = {}, {}
        server.settimeout(1)
        try:
            # One after the other: each uses all processors, so warming up all at once would be slower than in turn.
            for way, command in commands.items():
                if time.monotonic() > deadline:  # one that starts beside the bursts would slow them down
                    print(f"  {way}: there was no time to start the program", flush=True)
                    continue
                messages = open_lines.enter_context(open(f"{folder}/messages-{len(processes)}", "w+", encoding="utf-8"))
                process = subprocess.Popen([*command, *program, way], stdin=subprocess.DEVNULL, stdout=messages, stderr=messages, env=environment_of(arguments))
                processes[way] = process, messages
                while way not in lines and process.poll() is None and time.monotonic() < deadline:
                    try:
                        connection = server.accept()[0]
                    except TimeoutError:
                        continue
                    connection.settimeout(60)
                    talk = open_lines.enter_context(connection.makefile("rw"))
                    said, _, first = talk.readline().rstrip("\n").partition("\t")
                    lines[said] = (talk, float(first), connection)
            for way in processes.keys() - lines.keys():
                print(f"  {way}: the program did not start in time", flush=True)
            yield lines
        finally:
            for talk, _, connection in lines.values():  # a program ends when both are closed
                with contextlib.suppress(OSError):
                    talk.close()
                    connection.close()
            for way, (process, messages) in processes.items():
                if way in lines:
                    with contextlib.suppress(subprocess.TimeoutExpired):
                        process.wait(10)
                process.terminate()
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(5)
                process.kill()
                process.wait()
                messages.seek(0)
                notes.take(way, messages.read())
                if way not in lines:
                    messages.seek(0)
                    notes.lines += [f"{way}: {line}" for line in messages.read().splitlines()[-3:]]


def measure(arguments, workload, seconds, raw):
    """By way: ms per step of each burst, and of `alone` in the same round; and the seconds that the recorder took to end."""
    notes, results, endings = Notes(), {}, {}
    deadline = time.monotonic() + seconds
    with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR")) as folder:
        commands, recorders = ways_of(arguments, folder)
        started = time.monotonic() + 0.6 * seconds
        with programs_of(arguments, workload, commands, folder, notes, started) as programs:
            if "alone" not in programs:
                return results, endings, notes
            count = max(3, round(BURST * 1000 / programs["alone"][1]))

            def burst(program, steps=count):
                print(steps, file=programs[program][0], flush=True)
                return float(programs[program][0].readline())

            order = random.Random(1)
            turn, longest = 0, 0.0
            while time.monotonic() + longest < deadline:
                begin = time.monotonic()
                ways = [way for way in programs if way != "alone"] + list(recorders)
                # First the most important, and each at least once; later in random order.
                ways.sort(key=lambda way: (0 if "10 kHz" in way else 1)) if turn == 0 else order.shuffle(ways)
                last = min(burst("alone"), burst("alone"))
                for way in ways:
                    if time.monotonic() > deadline:
                        break
                    if way in recorders:
                        with metrics_recorded(way, recorders[way], arguments, notes) as (ready, ended):
                            figure = burst("alone") if ready else None
                        endings.setdefault(way, []).extend(ended)
                    else:
                        burst(way, 3)
                        figure = burst(way)
                    after = burst("alone")
                    if figure is not None:
                        results.setdefault(way, []).append((figure, (last + after) / 2))
                        print(workload, turn, way, figure, last, after, sep="\t", file=raw, flush=True)
                    last = after
                turn += 1
                longest = max(longest, time.monotonic() - begin)
    return results, endings, notes


def show(workload, results, endings, notes):
    alone = [figure for pairs in results.values() for _, figure in pairs]
    print(f"\n==== {workload}: a step alone: best {min(alone, default=0):.2f} ms, median {statistics.median(alone or [0]):.2f} ms")
    print(f"{'':34} {'bursts':>6} {'best ms':>8} {'median':>8} {'beside alone, %: median':>24} {'least':>7} {'to end, s':>10}")
    for way, pairs in sorted(results.items(), key=lambda item: item[0].split(": ")[::-1]):
        ratios = [100 * (figure / beside - 1) for figure, beside in pairs]
        ending = f"{statistics.median(endings[way]):10.1f}" if endings.get(way) else ""
        figures = [figure for figure, _ in pairs]
        print(f"{way:34} {len(pairs):6} {min(figures):8.2f} {statistics.median(figures):8.2f} {statistics.median(ratios):+24.1f} {min(ratios):+7.1f} {ending}")
    for line in notes.lines:
        print("  " + line)
    sys.stdout.flush()


def probe(arguments):
    """How much the hardware's buffer holds, and whose memory it is: it is not read for longer and longer times."""
    def used():
        answer = subprocess.run(["nvidia-smi", "--query-gpu=memory.used", "--format=csv,noheader"], capture_output=True, text=True, check=False)
        return (answer.stdout.split("\n") or ["?"])[0]

    print("\n==== How much a hardware buffer holds at 10 kHz")
    for mebibytes, pause in ((256, 700), (1024, 2500)):
        before = used()
        process = subprocess.Popen([f"{arguments.folder}/bin/lanescope-gpu-metrics", "--account", "--devices=0", "--nvml-every=0",
                                    f"--hardware-buffer={mebibytes}", f"--look-every={pause}"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.PIPE, env=environment_of(arguments))
        time.sleep(1.5 + 2 * pause / 1000)
        meanwhile = used()
        process.stdin.close()
        said = process.stderr.read().decode().strip()
        process.wait()
        print(f"  {mebibytes} MiB, looked at every {pause} ms: {said} GPU memory in use: {before} before, {meanwhile} meanwhile", flush=True)


def main():
    if sys.argv[1:2] == ["--serve"]:
        serve(*sys.argv[2:])
        return
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folder", required=True)
    parser.add_argument("--seconds", type=float, default=360)
    parser.add_argument("--workloads", default=",".join(WORKLOADS))
    parser.add_argument("--ways", default="", help="only ways whose name holds one of these, separated by |; the hardware buffer is left alone then")
    parser.add_argument("--nsys")
    parser.add_argument("--raw", required=True)
    arguments = parser.parse_args()
    if arguments.nsys and not shutil.which(arguments.nsys):
        parser.error(f"there is no {arguments.nsys}")
    end = time.monotonic() + arguments.seconds
    if not arguments.ways:
        probe(arguments)
    with open(arguments.raw, "w", encoding="utf-8") as raw:
        chosen = arguments.workloads.split(",")
        for number, workload in enumerate(chosen):
            left = end - time.monotonic() - 10
            share = 1.0 if number == len(chosen) - 1 else SHARES[workload]
            if left * share < 25:
                print(f"\n==== {workload}: no time is left")
                continue
            show(workload, *measure(arguments, workload, left * share, raw))


if __name__ == "__main__":
    main()
