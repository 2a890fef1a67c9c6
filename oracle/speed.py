"""Times epsilon of 10,000 subsampled Gaussians, by dp-accounting and by us, in one run.

Noise multiplier 1, sampling rate 0.01, delta 1e-5, both directions of add-remove. Two comparisons:

- same bracket, on several grids: dp-accounting computes its pessimistic (connect-the-dots) and its optimistic (privacy buckets) value; we
  take our loosest tolerance whose bracket is at least as narrow;
- same upper end, on its default grid: dp-accounting computes its pessimistic value only; we compute both ends all the
  same, at our loosest tolerance whose upper end is at least as small.

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


def their_epsilon(interval: float, pessimistic: bool) -> tuple[float, float]:
    begin = time.perf_counter()
    one = pld.from_gaussian_mechanism(
        NOISE,
        sampling_prob=RATE,
        pessimistic_estimate=pessimistic,
        use_connect_dots=pessimistic,
        value_discretization_interval=interval,
    )
    epsilon = float(one.self_compose(COUNT).get_epsilon_for_delta(DELTA))
    return epsilon, time.perf_counter() - begin


def ours() -> list[Result]:
    command = ["go", "test", "-run", "^$", "-bench", "TenThousandSubsampledGaussians", "./accountant/pld"]
    output = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    results = []
    for tolerance, nanoseconds, rest in BENCHMARK.findall(output):
        metrics = {name: float(value) for value, name in re.findall(r"(\S+) (epsilon\*1e6|width)", rest)}
        results.append(
            Result(f"tolerance {tolerance}", float(nanoseconds) / 1e9, metrics["epsilon*1e6"] / 1e6, metrics["width"])
        )
    if not results:
        sys.exit(f"no benchmark in the output of {' '.join(command)}:\n{output}")
    return sorted(results, key=lambda r: -r.width)


def compare(what: str, name: str, seconds: float, value: float, match: Result | None) -> float:
    if match is None:
        sys.exit(f"none of our results matches the {what} of dp-accounting at {name}: {value:g}")
    ratio = seconds / match.seconds
    print(
        f"{what:>10} {value:10.6g}  {name:>10} {seconds:8.3f} s   {match.name:>16} {match.seconds:8.4f} s {ratio:7.1f}x"
    )
    return ratio


def main() -> None:
    warnings.filterwarnings("ignore")
    mine = ours()
    for m in mine:
        print(f"hubbub, {m.name:>16}: upper {m.upper:.6f}, width {m.width:8.2g}, {m.seconds:.4f} s")
    ratios = []
    for interval in INTERVALS:
        name = f"grid {interval:g}"
        upper, upper_seconds = their_epsilon(interval, True)
        lower, lower_seconds = their_epsilon(interval, False)
        width = upper - lower
        narrow = next((r for r in mine if r.width <= width), None)
        ratios.append(compare("width", name, upper_seconds + lower_seconds, width, narrow))
        if interval == INTERVALS[0]:
            small = next((r for r in mine if r.upper <= upper), None)
            ratios.append(compare("upper end", name, upper_seconds, upper, small))
    print(f"at least {min(ratios):.1f} times faster")
    if min(ratios) < WANTED:
        sys.exit(f"that is less than {WANTED:g} times")


if __name__ == "__main__":
    main()
