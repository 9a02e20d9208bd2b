#!/usr/bin/env python3
"""Trains one of Tandem's networks with PyTorch on a synthetic batch and prints one JSON line.

The work of one `tandem bench` point: channels_last, softmax cross-entropy, SGD with momentum 0.9 and weight decay 1e-4,
one fixed random batch. With --processes=N it is DistributedDataParallel over gloo, one process per core. With
--device=cuda:N the batch lies on that GPU, and the host waits for the GPU at the two ends of the measurement only.

  images/s = batch per process x processes x steps / wall time of the steps after the warm-up
"""
import argparse
import contextlib
import json
import os
import platform
import resource
import sys
import time

import processes
from models import MODELS

GPU_ONLY = ("tf32", "autocast-fp16")


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", choices=MODELS, default="resnet50")
    parser.add_argument("--batch", type=int, default=32, help="images per process")
    parser.add_argument("--precision", choices=["fp32", "autocast", "bf16", *GPU_ONLY], default="fp32",
                        help="autocast: bf16 autocast; bf16: a bf16 model with fp32 batch-norm; on a GPU also tf32, and "
                             "autocast-fp16 with a scaled loss")
    parser.add_argument("--mode", default="eager",
                        help="eager, compile (torch.compile in its default mode), or a mode that torch.compile knows")
    parser.add_argument("--device", default="cpu", help="cpu or cuda:N")
    parser.add_argument("--sgd", choices=["fused", "foreach", "plain"], default="fused")
    parser.add_argument("--cpus", default="0,1", help="CPUs to run on, shared by one process or one per process")
    parser.add_argument("--processes", type=int, default=1, help="more than CPUs: they share these in turn")
    parser.add_argument("--bucket-mb", type=float, default=25, help="size of DistributedDataParallel's buckets")
    parser.add_argument("--warmup", type=int, default=3)
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--rank", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--rendezvous", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.device == "cpu" and options.precision in GPU_ONLY:
        parser.error(f"--precision={options.precision}: needs --device=cuda:N")
    if options.device != "cpu" and options.processes > 1:
        parser.error(f"--processes={options.processes}: on a GPU one process runs")
    return options


def build(options):
    import torch
    facts = MODELS[options.model]
    model = facts.build().to(options.device, memory_format=torch.channels_last)
    if options.precision == "bf16":
        model = model.bfloat16()
        for module in model.modules():
            if isinstance(module, torch.nn.BatchNorm2d):
                module.float()
    images = torch.randn(options.batch, 3, facts.size, facts.size).to(options.device, memory_format=torch.channels_last)
    labels = torch.randint(0, facts.classes, (options.batch,)).to(options.device)
    return model.train(), images.bfloat16() if options.precision == "bf16" else images, labels


def optimizer_of(model, options):
    import torch
    chosen = {"fused": {"fused": True}, "foreach": {"foreach": True}, "plain": {"foreach": False}}[options.sgd]
    return torch.optim.SGD(model.parameters(), lr=MODELS[options.model].lr, momentum=0.9, weight_decay=1e-4,
                           **chosen)


def loss_of(outputs, labels, auxiliary):
    """Softmax cross-entropy of the logits, and of those of the auxiliary heads by their weight."""
    import torch
    logits, *heads = outputs if isinstance(outputs, tuple) else (outputs,)
    entropy = lambda values: torch.nn.functional.cross_entropy(values.float(), labels)
    return entropy(logits) + auxiliary * sum(map(entropy, heads))


def choose_arithmetic(options):
    """cuDNN's fastest algorithms, and tf32 in convolutions and products where that is the precision, else nowhere."""
    import torch
    if options.device == "cpu":
        return
    torch.backends.cudnn.benchmark = True
    torch.backends.cudnn.allow_tf32 = torch.backends.cuda.matmul.allow_tf32 = options.precision == "tf32"


def casting(options):
    """The context of forward and loss, and the scaler of the loss: fp16 has too few exponents for small gradients."""
    import torch
    kind = "cpu" if options.device == "cpu" else "cuda"
    narrow = {"autocast": torch.bfloat16, "autocast-fp16": torch.float16}.get(options.precision)
    scaler = torch.amp.GradScaler(kind, enabled=narrow is torch.float16)
    return torch.autocast(kind, narrow) if narrow else contextlib.nullcontext(), scaler


def train(options):
    import torch
    torch.manual_seed(1)
    choose_arithmetic(options)
    torch.set_num_threads(len(os.sched_getaffinity(0)))
    model, images, labels = build(options)
    parameters = sum(parameter.numel() for parameter in model.parameters())
    if options.processes > 1:
        torch.distributed.init_process_group("gloo", init_method=f"file://{options.rendezvous}", rank=options.rank,
                                             world_size=options.processes)
        model = torch.nn.parallel.DistributedDataParallel(model, broadcast_buffers=False, gradient_as_bucket_view=True,
                                                          bucket_cap_mb=options.bucket_mb)
    if options.mode != "eager":
        model = torch.compile(model, mode="default" if options.mode == "compile" else options.mode)
    optimizer = optimizer_of(model, options)
    cast, scaler = casting(options)

    def step():
        optimizer.zero_grad(set_to_none=True)
        with cast:
            loss = loss_of(model(images), labels, MODELS[options.model].auxiliary)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        return loss

    return measure(step, options) | {"parameters": parameters}


def wait(options):
    """For all processes, or for the GPU."""
    import torch
    if options.processes > 1:
        torch.distributed.barrier()
    if options.device != "cpu":
        torch.cuda.synchronize(options.device)


def measure(step, options):
    import torch
    for _ in range(options.warmup):
        loss = step()
    wait(options)
    faults = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    times = [time.monotonic()]
    for _ in range(options.steps):
        loss = step()
        times.append(time.monotonic())
    wait(options)
    times[-1] = time.monotonic()
    wall = times[-1] - times[0]
    return {
        "images_per_s": options.batch * options.processes * options.steps / wall,
        "step_s": [round(after - before, 6) for before, after in zip(times, times[1:])],
        "minor_faults_per_step": (resource.getrusage(resource.RUSAGE_SELF).ru_minflt - faults) / options.steps,
        "threads": torch.get_num_threads(),
        "loss": round(loss.item(), 4),
        "torch": torch.__version__,
        "python": platform.python_version(),
    }


def main():
    options = parse()
    code = processes.entered(options, pinned=options.device == "cpu")
    if code is not None:
        return code
    print(json.dumps(train(options)))
    return 0


sys.exit(main())
