#!/usr/bin/env python3
"""Compares our matrix product with OpenBLAS, as numpy brings it, in one run.

    bench/product.py [--rounds N] [--json] [--only PATTERN]

Each round measures OpenBLAS and ours in turn, so that both meet the same machine. The best of many short batches counts, for both:
on a shared machine an average measures the neighbours. Both write into memory that is there already. Where the processor has AVX-512 and OpenBLAS does not find it, it is told: a peer that is
not tuned is not a fair one. Exit code 1 if a ratio is below its floor.

numpy and threadpoolctl are installed, at the pinned versions, into a virtual environment in .cache/bench if they are not there.
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

PACKAGES = ["numpy==2.4.6", "threadpoolctl==3.6.0"]
ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".cache" / "bench"
FLOOR = 0.9
SECONDS = 0.2  # of each measurement

# m, n, k, A is transposed, B is transposed: as in the Go benchmark. The first are the network 784-80-10 on 240 examples, then
# convolutions, then squares.
CASES = [
    (240, 80, 784, False, False), (784, 80, 240, True, False), (240, 784, 80, False, True), (240, 10, 80, False, False),
    (26, 32, 9, False, False), (26, 32, 288, False, False), (24, 64, 288, False, False), (576, 64, 288, False, False),
    (512, 512, 512, False, False), (1024, 1024, 1024, False, False),
]
Case = tuple[int, int, int, bool, bool]


def in_venv() -> None:
    """Starts this script again with a Python that has the packages, if this one has not."""
    try:
        import numpy  # noqa: F401
        import threadpoolctl  # noqa: F401
    except ImportError:
        python = VENV / "bin" / "python"
        if Path(sys.prefix) == VENV and "HUBBUB_BENCH_INSTALLED" in os.environ:
            sys.exit(f"bench: {VENV} lacks packages: remove it and try again")
        if not python.exists():
            print(f"installing {', '.join(PACKAGES)} into {VENV.relative_to(ROOT)}", file=sys.stderr)
            subprocess.run([sys.executable, "-m", "venv", str(VENV)], check=True)
        subprocess.run([str(python), "-m", "pip", "install", "-q", *PACKAGES], check=True)
        os.environ["HUBBUB_BENCH_INSTALLED"] = "yes"
        os.execv(python, [str(python), *sys.argv])


def tune() -> None:
    """Starts this script again with OpenBLAS told of AVX-512, if the processor has it and OpenBLAS uses an older kernel."""
    import numpy  # noqa: F401
    import threadpoolctl

    cpuinfo = Path("/proc/cpuinfo")
    has_avx512 = cpuinfo.exists() and "avx512f" in cpuinfo.read_text()
    core = {pool.get("architecture") for pool in threadpoolctl.threadpool_info()}
    if has_avx512 and not core & {"SkylakeX", "Cooperlake", "SapphireRapids", "Zen"} and "OPENBLAS_CORETYPE" not in os.environ:
        os.environ["OPENBLAS_CORETYPE"] = "SKYLAKEX"
        os.execv(sys.executable, [sys.executable, *sys.argv])
    print(f"OpenBLAS kernels: {', '.join(str(c) for c in core)}", file=sys.stderr)


def name_of(case: Case) -> str:
    m, n, k, ta, tb = case
    return f"{m}x{n}x{k}" + ("-ta" if ta else "") + ("-tb" if tb else "")


def openblas(case: Case) -> Callable[[], object]:
    import numpy as np

    m, n, k, ta, tb = case
    rng = np.random.default_rng(1)
    a = rng.standard_normal((k, m) if ta else (m, k), dtype=np.float32)
    b = rng.standard_normal((n, k) if tb else (k, n), dtype=np.float32)
    a, b, c = a.T if ta else a, b.T if tb else b, np.zeros((m, n), dtype=np.float32)
    return lambda: np.matmul(a, b, out=c)


def their_rate(case: Case, threads: int) -> float:
    """GFLOPS of OpenBLAS."""
    import threadpoolctl

    m, n, k, _, _ = case
    flops = 2 * m * n * k
    multiply, batch, fastest = openblas(case), 1 + int(100e6 / flops), float("inf")
    with threadpoolctl.threadpool_limits(threads):
        multiply()
        end = time.perf_counter() + SECONDS
        while (start := time.perf_counter()) < end:
            for _ in range(batch):
                multiply()
            fastest = min(fastest, time.perf_counter() - start)
    time.sleep(0.05)  # its threads spin for a while before they sleep
    return flops * batch / fastest / 1e9


def our_rate(binary: str, case: Case, threads: int) -> float:
    """GFLOPS of ours, with the instructions that are chosen where nobody chooses."""
    pattern = f"^BenchmarkProduct$/^{re.escape(name_of(case))}$/^threads={threads}$"
    out = subprocess.run(
        [binary, "-test.run=^$", f"-test.bench={pattern}", f"-test.benchtime={SECONDS}s", f"-test.cpu={threads}"],
        check=True, capture_output=True, text=True, cwd=ROOT / "internal" / "kernel",
    ).stdout
    rate = re.search(r"([\d.e+]+) GFLOPS", out)
    if not rate:
        sys.exit(f"bench: no rate of {name_of(case)} in:\n{out}")
    return float(rate[1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--only", default="", help="regular expression of the sizes to measure")
    options = parser.parse_args()
    in_venv()
    tune()

    cases = [case for case in CASES if re.search(options.only, name_of(case))]
    best: dict[tuple[Case, int], tuple[float, float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        binary = f"{folder}/kernel.test"
        subprocess.run(["go", "test", "-c", "-o", binary, "./internal/kernel"], check=True, cwd=ROOT)
        for _ in range(options.rounds):
            for case in cases:
                for threads in (1, 2):
                    theirs, ours = best.get((case, threads), (0.0, 0.0))
                    best[case, threads] = max(theirs, their_rate(case, threads)), max(ours, our_rate(binary, case, threads))

    rows = [
        {
            "product": name_of(case), "threads": threads, "openblas_gflops": round(theirs, 1), "ours_gflops": round(ours, 1),
            "ratio": round(ours / theirs, 2), "floor": FLOOR,
        }
        for (case, threads), (theirs, ours) in best.items()
    ]
    if options.json:
        print(json.dumps(rows, indent=1))
    else:
        print(f"GFLOPS, float32, best of {options.rounds}")
        print(f"{'m x n x k':<22}{'threads':>8}{'OpenBLAS':>10}{'ours':>8}{'ratio':>8}{'floor':>7}")
        for row in rows:
            print(
                f"{row['product']:<22}{row['threads']:>8}{row['openblas_gflops']:>10}{row['ours_gflops']:>8}"
                f"{row['ratio']:>7}x{row['floor']:>6g}x"
            )
    missed = [f"{row['product']} on {row['threads']}" for row in rows if row["ratio"] < row["floor"]]
    if missed:
        sys.exit(f"bench: below the floor: {', '.join(missed)}")


if __name__ == "__main__":
    main()
