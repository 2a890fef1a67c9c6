#!/usr/bin/env python3
"""Compares our samplers with numpy's on one core, in one run.

    bench/noise.py [--rounds N] [--json]

Each round measures numpy and ours in turn, so that both meet the same machine; the best of the rounds counts, for
both. numpy has no Skellam sampler: the difference of two Poisson arrays is what people write, and what is measured. It has no discrete
Gaussian either; ours is held against the same Skellam, of the same variance. numpy's generator is PCG64, which is not
cryptographic; ours is AES-256-CTR. Exit code 1 if a ratio is below its floor.

numpy is installed, at the pinned version, into a virtual environment in .cache/bench if it is not there.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Callable

NUMPY = "numpy==2.4.6"
ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".cache" / "bench"
LENGTH = 1 << 16  # samples per call, as in the Go benchmark

# name in the Go benchmark, name of numpy's part, smallest ratio that is accepted
CASES = [
    (f"Samplers/{law}/variance={variance}", f"skellam {variance}", 35.0)
    for law in ("skellam", "discretegaussian")
    for variance in ("1", "100", "10000", "1e+06")
] + [("Gaussian32", "normal float32", 8.0)]


def in_venv() -> None:
    """Starts this script again with a Python that has numpy, if this one has not."""
    try:
        import numpy  # noqa: F401
    except ImportError:
        python = VENV / "bin" / "python"
        if Path(sys.prefix) == VENV:
            sys.exit(f"bench: {VENV} has no numpy: remove it and try again")
        if not python.exists():
            print(f"installing {NUMPY} into {VENV.relative_to(ROOT)}", file=sys.stderr)
            subprocess.run([sys.executable, "-m", "venv", str(VENV)], check=True)
        subprocess.run([str(python), "-m", "pip", "install", "-q", NUMPY], check=True)
        os.execv(python, [str(python), *sys.argv])


def numpy_parts() -> dict[str, Callable[[], object]]:
    import numpy as np

    rng = np.random.default_rng(1)

    def skellam(rate: float) -> Callable[[], object]:
        return lambda: rng.poisson(rate, LENGTH) - rng.poisson(rate, LENGTH)

    parts: dict[str, Callable[[], object]] = {
        f"skellam {variance}": skellam(float(variance) / 2) for variance in ("1", "100", "10000", "1e+06")
    }
    parts["normal float32"] = lambda: rng.standard_normal(LENGTH, dtype=np.float32)
    return parts


def numpy_rate(draw: Callable[[], object], seconds: float = 0.2) -> float:
    """Million samples a second."""
    calls = 0
    start = time.perf_counter()
    while (elapsed := time.perf_counter() - start) < seconds:
        draw()
        calls += 1
    return calls * LENGTH / elapsed / 1e6


def our_rate(binary: str, name: str) -> tuple[float, float]:
    """Million samples a second, and the share of the stream's own rate in percent."""
    pattern = "/".join(f"^{re.escape(part)}$" for part in f"Benchmark{name}".split("/"))
    out = subprocess.run(
        [binary, "-test.run=^$", f"-test.bench={pattern}", "-test.benchtime=200ms", "-test.cpu=1"],
        check=True, capture_output=True, text=True, cwd=ROOT / "noise",
    ).stdout
    rate = re.search(r"([\d.e+]+) Msamples/s", out)
    share = re.search(r"([\d.e+]+) %ofstream", out)
    if not rate or not share:
        sys.exit(f"bench: no rate of {name} in:\n{out}")
    return float(rate[1]), float(share[1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    in_venv()

    theirs: dict[str, float] = {}
    ours: dict[str, tuple[float, float]] = {}
    parts = numpy_parts()
    with tempfile.TemporaryDirectory() as folder:
        binary = f"{folder}/noise.test"
        subprocess.run(["go", "test", "-c", "-o", binary, "./noise"], check=True, cwd=ROOT)
        for _ in range(options.rounds):
            for part, draw in parts.items():
                theirs[part] = max(theirs.get(part, 0.0), numpy_rate(draw))
                for name, its_part, _floor in CASES:
                    if its_part == part:
                        ours[name] = max(ours.get(name, (0.0, 0.0)), our_rate(binary, name))

    rows = [
        {
            "sampler": name.removeprefix("Samplers/"), "numpy": its_part, "numpy_msamples": round(theirs[its_part], 1),
            "ours_msamples": round(ours[name][0]), "percent_of_stream": round(ours[name][1]),
            "ratio": round(ours[name][0] / theirs[its_part], 1), "floor": floor,
        }
        for name, its_part, floor in CASES
    ]
    if options.json:
        print(json.dumps(rows, indent=1))
    else:
        print(f"million samples a second on one core, best of {options.rounds}")
        print(f"{'sampler':<32}{'numpy':>8}{'ours':>8}{'ratio':>8}{'floor':>7}{'of stream':>11}")
        for row in rows:
            print(
                f"{row['sampler']:<32}{row['numpy_msamples']:>8}{row['ours_msamples']:>8}"
                f"{row['ratio']:>7}x{row['floor']:>6g}x{row['percent_of_stream']:>10}%"
            )
    missed = [row["sampler"] for row in rows if row["ratio"] < row["floor"]]
    if missed:
        sys.exit(f"bench: below the floor: {', '.join(missed)}")


if __name__ == "__main__":
    main()
