#!/usr/bin/env python3
"""Writes the small weights files that tests/formats/weights_file_test.cpp reads, into tests/golden/weights/.

Needs torch 2.11 and safetensors 0.8; run by hand: make_weights.py [FOLDER]. The values of a tensor are 0, 1, 2, ... in
row-major order (booleans: odd ones true), so that the tests know them.
"""
import collections
import pathlib
import sys

import torch
from safetensors.torch import save_file

FLOATING = [torch.float32, torch.float64, torch.float16, torch.bfloat16]
INTEGERS = [torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8]
SAFETENSORS_ONLY = [torch.uint16, torch.uint32, torch.uint64, torch.float8_e4m3fn, torch.float8_e5m2]


def counting(*shape, dtype=torch.float32):
    count = torch.Size(shape).numel()
    values = torch.arange(count) % 2 if dtype is torch.bool else torch.arange(count)
    return values.to(dtype).reshape(shape)


def network():
    """A state dict as a network has it, with its _metadata."""
    model = torch.nn.Sequential(collections.OrderedDict(conv=torch.nn.Conv2d(3, 2, 3), bn=torch.nn.BatchNorm2d(2)))
    state = model.state_dict()
    for value in state.values():
        value.copy_(counting(*value.shape, dtype=value.dtype))
    return state


def of_types(dtypes):
    return {str(dtype).removeprefix("torch."): counting(2, 3, dtype=dtype) for dtype in dtypes}


def strided():
    base = counting(4, 6)
    return {
        "transposed": counting(3, 2).t(),  # 0 2 4 1 3 5
        "columns": base[:, 1:3],
        "rows": base[1:3],
        "channels_last": counting(2, 3, 2, 2).to(memory_format=torch.channels_last),
        "every_other": counting(8)[::2],
        "empty": torch.empty(0, 5),
        "scalar": counting(),
    }


def main():
    folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent / "weights")
    folder.mkdir(parents=True, exist_ok=True)
    state = network()
    checkpoint = {"epoch": 3, "arch": "small", "best": 0.5, "state_dict": state, "sizes": [1, (2, None, True)],
                  "seed": 2**40, "optimizer": {"state": {0: {"step": torch.tensor(7.0)}}}}
    torch.save(state, folder / "network.pth")
    torch.save(checkpoint, folder / "checkpoint.pth")
    torch.save({"weight": torch.nn.Parameter(counting(2, 3))}, folder / "parameter.pth")
    torch.save(of_types(FLOATING + INTEGERS + [torch.bool]), folder / "types.pth")
    torch.save(strided(), folder / "strided.pth")
    torch.save({"weight": counting(2, 3)}, folder / "legacy.pth", _use_new_zipfile_serialization=False)
    torch.save(torch.nn.Linear(1, 1), folder / "module.pth")
    torch.jit.save(torch.jit.script(torch.nn.Linear(1, 1)), folder / "torchscript.pt")
    save_file(dict(state), folder / "network.safetensors", metadata={"format": "pt"})
    save_file(of_types(FLOATING + INTEGERS + SAFETENSORS_ONLY + [torch.bool]), folder / "types.safetensors")


main()
