"""Times epsilon of 10,000 subsampled Gaussians, by dp-accounting and by us, in one run and at the same bracket width.

Noise multiplier 1, sampling rate 0.01, delta 1e-5, both directions of add-remove. dp-accounting's bracket is its
pessimistic (connect-the-dots) and its optimistic (privacy buckets) value; both have to be computed to know it. For each
of its grids the script picks our loosest tolerance whose bracket is at least as narrow.

    python oracle/speed.py
"""

from __future__ import annotations

import pathlib
import re
import subprocess
import sys
import time
import warnings
from dataclasses import dataclass

from dp_accounting.pld import privacy_loss_distribution as pld

ROOT = pathlib.Path(__file__).parent.parent
COUNT, NOISE, RATE, DELTA = 10_000, 1.0, 0.01, 1e-5
WANTED = 5.0  # times faster
INTERVALS = (1e-4, 3e-5, 1e-5)
BENCHMARK = re.compile(r"tolerance=(\S+?)(?:-\d+)?\s+\d+\s+(\S+) ns/op(.*)")


@dataclass(frozen=True)
class Result:
    name: str
    seconds: float
    upper: float
    width: float


def theirs(interval: float) -> Result:
    def epsilon(pessimistic: bool) -> float:
        one = pld.from_gaussian_mechanism(
            NOISE,
            sampling_prob=RATE,
            pessimistic_estimate=pessimistic,
            use_connect_dots=pessimistic,
            value_discretization_interval=interval,
        )
        return float(one.self_compose(COUNT).get_epsilon_for_delta(DELTA))

    begin = time.perf_counter()
    upper = epsilon(True)
    lower = epsilon(False)
    return Result(f"grid {interval:g}", time.perf_counter() - begin, upper, upper - lower)


def ours() -> list[Result]:
    command = ["go", "test", "-run", "^$", "-bench", "TenThousandSubsampledGaussians", "./accountant/pld"]
    output = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    results = []
    for tolerance, nanoseconds, rest in BENCHMARK.findall(output):
        metrics = {name: float(value) for value, name in re.findall(r"(\S+) (epsilon|width)", rest)}
        results.append(Result(f"tolerance {tolerance}", float(nanoseconds) / 1e9, metrics["epsilon"], metrics["width"]))
    if not results:
        sys.exit(f"no benchmark in the output of {' '.join(command)}:\n{output}")
    return sorted(results, key=lambda r: -r.width)


def main() -> None:
    warnings.filterwarnings("ignore")
    mine = ours()
    slow = False
    print(f"{'dp-accounting':>14} {'width':>9} {'seconds':>9}   {'hubbub':>16} {'width':>9} {'seconds':>9} {'ratio':>7}")
    for interval in INTERVALS:
        t = theirs(interval)
        m = next((r for r in mine if r.width <= t.width), None)
        if m is None:
            sys.exit(f"none of our brackets is as narrow as {t.width:g}")
        ratio = t.seconds / m.seconds
        slow |= ratio < WANTED
        print(
            f"{t.name:>14} {t.width:9.2g} {t.seconds:9.3f}   {m.name:>16} {m.width:9.2g} {m.seconds:9.4f} {ratio:6.1f}x"
        )
    for m in mine:
        print(f"{'':>36} {m.name:>16} {m.width:9.2g} {m.seconds:9.4f}")
    if slow:
        sys.exit(f"less than {WANTED:g} times faster")


if __name__ == "__main__":
    main()
