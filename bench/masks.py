#!/usr/bin/env python3
"""Compares expanding and adding masks, in one pass, with the standard library's AES-256-CTR and a plain loop, in one run.

    bench/masks.py [--rounds N] [--json]

A million 32-bit words, on one core. The standard library's stream is measured both at once and a few chunks at a time, and the
faster one counts. All take turns, and the best of the rounds counts for each. Exit code 1 if the ratio is
below its floor, unless the processor lacks the instructions: then there is only one version, and nothing to compare.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FLOOR = 2.5


def rate(binary: str, name: str) -> float:
    """Gigabytes a second."""
    out = subprocess.run(
        [binary, "-test.run=^$", f"-test.bench=^BenchmarkMask32$/^{name}$", "-test.benchtime=1x", "-test.count=50", "-test.cpu=1"],
        check=True, capture_output=True, text=True, cwd=ROOT / "internal" / "kernel",
    ).stdout
    rates = [float(x) / 1000 for x in re.findall(r"([\d.]+) MB/s", out)]
    if not rates:
        sys.exit(f"bench: no rate of {name} in:\n{out}")
    return max(rates)


def has_instructions() -> bool:
    cpuinfo = Path("/proc/cpuinfo")
    flags = set(cpuinfo.read_text().split()) if cpuinfo.exists() else set()
    return {"vaes", "avx512f", "avx512dq", "avx512bw", "avx512vl"} <= flags


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()

    best = {"fused": 0.0, "standard": 0.0, "blocked": 0.0}
    with tempfile.TemporaryDirectory() as folder:
        binary = f"{folder}/kernel.test"
        subprocess.run(["go", "test", "-c", "-o", binary, "./internal/kernel"], check=True, cwd=ROOT)
        for _ in range(options.rounds):
            for name in best:
                best[name] = max(best[name], rate(binary, name))
    standard = max(best["standard"], best["blocked"])
    ratio = best["fused"] / standard
    row = {"standard_gb": round(standard, 2), "ours_gb": round(best["fused"], 2), "ratio": round(ratio, 2), "floor": FLOOR}
    if options.json:
        print(json.dumps(row, indent=1))
    else:
        print(f"masks of a million words, GB/s: standard library {row['standard_gb']}, ours {row['ours_gb']}, ratio {row['ratio']}x, floor {FLOOR}x")
    if ratio < FLOOR and has_instructions():
        sys.exit("bench: below the floor: masks")


if __name__ == "__main__":
    main()
