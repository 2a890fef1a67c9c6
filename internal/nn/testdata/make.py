#!/usr/bin/env python3
"""Writes autodiff.json: losses, norms and clipped sums of small networks, computed by PyTorch's autograd in float64, example by example.

    make.py > autodiff.json

Weights, records and labels come from a formula that the Go test knows too, in steps that float32 holds exactly.
"""

from __future__ import annotations

import json
import sys

import torch
import torch.nn.functional as F

EXAMPLES = 5
CLIP = 3.0  # some examples are above it, some below

CASES = [
    ("perceptron with relu", [12], 4, [{"kind": "dense", "units": 9}, {"kind": "relu"}, {"kind": "dense", "units": 7}, {"kind": "relu"}]),
    ("two convolutions and a pool", [1, 9, 8], 3, [
        {"kind": "conv", "filters": 5}, {"kind": "relu"}, {"kind": "conv", "filters": 6}, {"kind": "relu"}, {"kind": "maxpool"},
        {"kind": "dense", "units": 6}, {"kind": "relu"}]),
    ("same padding, stride, tanh", [3, 7, 6], 4, [
        {"kind": "conv", "filters": 4, "stride": 2, "padding": "same"}, {"kind": "tanh"},
        {"kind": "conv", "filters": 5, "padding": "same"}, {"kind": "tanh"},
        {"kind": "conv", "filters": 4, "size": 2, "stride": 2, "padding": "same"}, {"kind": "flatten"}]),
    ("group norm and mean pool", [2, 8, 8], 3, [
        {"kind": "conv", "filters": 6, "padding": "same"}, {"kind": "groupnorm", "groups": 3}, {"kind": "relu"},
        {"kind": "avgpool"}, {"kind": "conv", "filters": 4, "size": 2}, {"kind": "groupnorm", "groups": 2}, {"kind": "tanh"}]),
    ("pools that overlap", [2, 9, 9], 3, [
        {"kind": "avgpool", "size": 2, "stride": 1}, {"kind": "conv", "filters": 5, "stride": 1}, {"kind": "relu"},
        {"kind": "maxpool", "size": 3, "stride": 2}, {"kind": "dense", "units": 5}, {"kind": "tanh"}]),
    ("many channels, many pixels", [3, 13, 12], 3, [
        {"kind": "conv", "filters": 16}, {"kind": "tanh"}, {"kind": "conv", "filters": 18}, {"kind": "tanh"}, {"kind": "avgpool", "size": 4}]),
    ("many channels, padded", [16, 9, 8], 3, [
        {"kind": "conv", "filters": 17, "padding": "same"}, {"kind": "tanh"}, {"kind": "avgpool", "size": 4}]),
    ("many channels, windows of one pixel", [33, 3, 3], 3, [
        {"kind": "conv", "filters": 18, "size": 2}, {"kind": "relu"}, {"kind": "conv", "filters": 17, "size": 1}, {"kind": "tanh"}]),
]


def numbers(count: int, seed: int) -> list[float]:
    """Numbers in [-1, 1), multiples of 2^-10, that follow no line."""
    return [((i * i * 3 + i * 7919 + seed * 104729) % 2039 - 1019) / 1024 for i in range(count)]


def same(side: int, size: int, stride: int) -> tuple[int, int]:
    """Zeros before and after."""
    zeros = max(0, ((side + stride - 1) // stride - 1) * stride + size - side)
    return zeros // 2, zeros - zeros // 2


def logits(layers: list[dict], classes: int, weights: "Weights", x: torch.Tensor) -> torch.Tensor:
    for layer in [*layers, {"kind": "dense", "units": classes}]:
        kind = layer["kind"]
        if kind == "dense":
            if x.dim() == 4:
                x = x.permute(0, 2, 3, 1).flatten(1)
            w = weights.take(x.shape[1], layer["units"])
            x = x @ w + weights.take(layer["units"])
        elif kind == "conv":
            size, stride = layer.get("size", 3), layer.get("stride", 1)
            w = weights.take(size, size, x.shape[1], layer["filters"]).permute(3, 2, 0, 1)
            if layer.get("padding") == "same":
                x = F.pad(x, (*same(x.shape[3], size, stride), *same(x.shape[2], size, stride)))
            x = F.conv2d(x, w, weights.take(layer["filters"]), stride=stride)
        elif kind == "maxpool":
            x = F.max_pool2d(x, layer.get("size", 2), layer.get("stride"))
        elif kind == "avgpool":
            x = F.avg_pool2d(x, layer.get("size", 2), layer.get("stride"))
        elif kind == "groupnorm":
            x = F.group_norm(x, layer["groups"], weights.take(x.shape[1]) + 1, weights.take(x.shape[1]))
        elif kind == "relu":
            x = x.relu()
        elif kind == "tanh":
            x = x.tanh()
        elif kind == "flatten":
            x = x.permute(0, 2, 3, 1).flatten(1)
    return x


class Weights:
    """Hands out the parts of a flat vector, in order."""

    def __init__(self, flat: torch.Tensor) -> None:
        self.flat, self.at = flat, 0

    def take(self, *shape: int) -> torch.Tensor:
        n = int(torch.tensor(shape).prod())
        self.at += n
        return self.flat[self.at - n : self.at].reshape(shape)


def main() -> None:
    torch.set_default_dtype(torch.float64)
    cases = []
    for seed, (name, shape, classes, layers) in enumerate(CASES):
        inputs = torch.tensor(numbers(EXAMPLES * int(torch.tensor(shape).prod()), 50 + seed)).reshape(EXAMPLES, *shape)
        labels = torch.tensor([(3 * e + seed) % classes for e in range(EXAMPLES)])
        probe = Weights(torch.zeros(1 << 16))
        logits(layers, classes, probe, inputs)
        flat = torch.tensor(numbers(probe.at, seed)) / 2
        flat.requires_grad_()
        loss, norms, total = 0.0, [], torch.zeros(probe.at)
        for e in range(EXAMPLES):
            one = F.cross_entropy(logits(layers, classes, Weights(flat), inputs[e : e + 1]), labels[e : e + 1])
            (gradient,) = torch.autograd.grad(one, flat)
            norm = float(gradient.norm())
            loss += float(one)
            norms.append(norm * norm)
            total += gradient * min(1.0, CLIP / norm)
        cases.append({
            "name": name, "shape": shape, "classes": classes, "layers": layers, "loss": loss, "squared_norms": norms,
            "clipped": [float(f"{v:.9g}") for v in total.tolist()],
        })
    source = f"made by make.py with PyTorch {torch.__version__}, float64"
    json.dump({"source": source, "examples": EXAMPLES, "clip": CLIP, "cases": cases}, sys.stdout)
    print()


if __name__ == "__main__":
    main()
