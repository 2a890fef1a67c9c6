#!/usr/bin/env python3
"""Times paper 002's run: 250 rounds of 240 clients with one record each, 63,610 weights, Skellam noise, from start to report.

    bench/paper002.py [--times N] [--json]

Every setting is run N times, in turn, and the fastest counts: an average would measure the neighbours. The processor time of that run
stands beside it: half of it is what two idle cores would take at best. Exit code 1 if a run is slower than its floor.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
GRID = "privacy.mechanism={kind: skellam, clip: 1.0, granularity: 0.1}"
ROTATED = "privacy.mechanism={kind: skellam, clip: 1.0, granularity: 0.1, bits: 8, rotate: true}"


@dataclass(frozen=True)
class Setting:
    name: str
    sets: tuple[str, ...]
    floor: float  # seconds
    aim: float


SETTINGS = [
    Setting("noise that is the same whoever came", (GRID,), 5.0, 2.0),
    Setting("a share of noise from every client", (GRID, "secagg.noise=minimum", "cohort.min_survivors=200"), 5.0, 2.0),
    Setting("a rotation, 8 bits", (ROTATED,), 10.0, 5.0),
]


@dataclass
class Time:
    seconds: float
    processor: float
    accuracy: float


def run(binary: Path, setting: Setting, folder: Path) -> Time:
    command = [str(binary), "run", "--json", "--quiet", "--runs", str(folder), str(ROOT / "experiments/002/ours.yaml")]
    for change in ("sweep=null", *setting.sets):
        command += ["--set", change]
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    out = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    seconds, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Time(seconds, used, json.loads(out)["accuracy"])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--times", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    best: dict[str, Time] = {}
    with tempfile.TemporaryDirectory() as temporary:
        binary = Path(temporary) / "hubbub"
        subprocess.run(["go", "build", "-o", str(binary), "./cmd/hubbub"], cwd=ROOT, check=True)
        for _ in range(arguments.times):
            for setting in SETTINGS:
                took = run(binary, setting, Path(temporary) / "runs")
                if setting.name not in best or took.seconds < best[setting.name].seconds:
                    best[setting.name] = took
    slow = [s for s in SETTINGS if best[s.name].seconds > s.floor]
    if arguments.json:
        rows = [{"setting": s.name, "floor": s.floor, "aim": s.aim, **vars(best[s.name])} for s in SETTINGS]
        print(json.dumps({"cores": os.cpu_count(), "runs": rows}, indent=2))
    else:
        print(f"paper 002's run on {os.cpu_count()} cores, the fastest of {arguments.times}")
        print(f"{'':36} {'seconds':>8} {'processor':>10} {'accuracy':>9} {'floor':>6} {'aim':>5}")
        for s in SETTINGS:
            t = best[s.name]
            verdict = "TOO SLOW" if s in slow else "aim reached" if t.seconds <= s.aim else "ok"
            print(f"{s.name:36} {t.seconds:8.2f} {t.processor:10.2f} {t.accuracy:9.2%} {s.floor:6.1f} {s.aim:5.1f}  {verdict}")
    return 1 if slow else 0


if __name__ == "__main__":
    sys.exit(main())
