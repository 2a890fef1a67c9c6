#!/usr/bin/env python3
"""Compares private training with PyTorch, Opacus, functorch and pfl-research, side by side in one run.

    bench/peers/compare.py [--rounds N] [--seconds S] [--threads 1,2] [--nets mlp,cnn,cifar] [--json]

Steps: one step of SGD on a batch that lies in memory. "plain" is PyTorch without privacy; "private" is the fastest of Opacus with
hooks, Opacus with ghost clipping, and functorch's vmap, each with clipping and normal noise. Ours is the same step with clipping and
noise from a cryptographic stream. "overhead" is what clipping and noise add to our own step.
Rounds: 50 clients with 50 examples each train for one local epoch in batches of 10 (the cohort of pfl-research's CIFAR-10 benchmark),
updates are clipped, Gaussian noise is added to their sum. "dpsgd" is our DP-SGD step as a client of the product takes it, with noise on an
integer grid: it has no peer and no floor.

Each of the rounds measures everybody in turn, so that all meet the same machine; the best counts, for everybody. With one thread
the clock is the processor's, so that other work on the machine does not count; with two it is the wall's, and wants an idle machine.
Peers are tuned: OpenBLAS and PyTorch use AVX-512 where it is there, and malloc keeps its memory. Exit code 1 if a figure with one
thread is below its floor.

The peers are installed into .cache/peers: Debian's PyTorch, the rest at pinned versions (requirements.txt).
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
VENV = ROOT / ".cache" / "peers"
PACKAGES = ["python3-torch", "python3-venv", "libopenblas0-pthread"]
TUNING = {"ATEN_CPU_CAPABILITY": "avx512", "OPENBLAS_CORETYPE": "SKYLAKEX", "MALLOC_TRIM_THRESHOLD_": "4294967296", "MALLOC_MMAP_THRESHOLD_": "4294967296"}
PRIVATE = ["opacus ghost", "opacus hooks", "vmap"]
BATCHES = {"mlp": [240], "cnn": [16, 256], "cifar": [16, 256]}

# Smallest ratios that are accepted, and those that we aim for: to the best private peer, to plain PyTorch, of rounds to pfl-research.
FLOORS = {"mlp": (6.5, 1.6, 9.0), "cnn": (3.5, 1.5, 1.8), "cifar": (3.2, 1.8, 1.8)}
AIMS = {"mlp": (9.0, 2.3, 15.0), "cnn": (5.0, 2.2, 3.0), "cifar": (4.5, 3.0, 3.0)}
MOST_OVERHEAD, AIM_OVERHEAD, OVERHEAD_FROM = 8.0, 3.0, 64  # percent, at batches of at least so many


def set_up() -> None:
    """Installs what is missing."""
    if subprocess.run(["/usr/bin/python3", "-c", "import torch, venv"], capture_output=True).returncode != 0:
        if os.geteuid() != 0:
            sys.exit(f"bench: no PyTorch for /usr/bin/python3: run apt-get install {' '.join(PACKAGES)}")
        print(f"installing {' '.join(PACKAGES)}", file=sys.stderr)
        subprocess.run(["apt-get", "update"], check=True, stdout=subprocess.DEVNULL)
        subprocess.run(["apt-get", "install", "-y", *PACKAGES], check=True, stdout=subprocess.DEVNULL)
    python = VENV / "bin" / "python"
    if not python.exists():
        subprocess.run(["/usr/bin/python3", "-m", "venv", "--system-site-packages", str(VENV)], check=True)
    subprocess.run([str(python), "-m", "pip", "install", "-q", "--no-deps", "-r", str(HERE / "requirements.txt")], check=True)


class Server:
    """One half of the comparison: it answers questions about rates."""

    def __init__(self, command: list[str], threads: int) -> None:
        tuning = dict(TUNING)
        if "avx512f" not in Path("/proc/cpuinfo").read_text():
            del tuning["ATEN_CPU_CAPABILITY"], tuning["OPENBLAS_CORETYPE"]  # the peers know best
        number = str(threads)
        environment = {**os.environ, **tuning, "OMP_NUM_THREADS": number, "OPENBLAS_NUM_THREADS": number}
        self.process = subprocess.Popen([*command, number], env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.best: dict[str, float] = {}

    def ask(self, seconds: float, **question: object) -> None:
        assert self.process.stdin and self.process.stdout
        self.process.stdin.write(json.dumps({**question, "seconds": seconds}) + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            sys.exit(f"bench: no answer to {question}")
        key = key_of(**question)
        self.best[key] = max(self.best.get(key, 0.0), json.loads(answer)["rate"])

    def rate(self, **question: object) -> float:
        return self.best[key_of(**question)]

    def close(self) -> None:
        assert self.process.stdin
        self.process.stdin.close()
        self.process.wait()


def key_of(**question: object) -> str:
    return json.dumps(question, sort_keys=True)


def run(binary: str, threads: int, nets: list[str], rounds: int, seconds: float) -> list[dict[str, object]]:
    peers = Server([str(VENV / "bin" / "python"), str(HERE / "serve.py")], threads)
    ours = Server([binary], threads)
    for number in range(rounds):
        for net in nets:
            for batch in BATCHES[net]:
                print(f"threads {threads}, round {number + 1} of {rounds}: {net}, batch {batch}    ", end="\r", file=sys.stderr)
                for how in ["plain", *PRIVATE]:
                    peers.ask(seconds, work="step", net=net, batch=batch, how=how)
                for how in ["plain", "private", "plain", "private", "dpsgd"]:  # the first two are compared to a few percent
                    ours.ask(seconds, work="step", net=net, batch=batch, how=how)
            print(f"threads {threads}, round {number + 1} of {rounds}: {net}, federated    ", end="\r", file=sys.stderr)
            peers.ask(seconds, work="round", net=net)
            ours.ask(seconds, work="round", net=net)
    print(" " * 60, end="\r", file=sys.stderr)
    rows: list[dict[str, object]] = []
    for net in nets:
        for batch in BATCHES[net]:
            step = {"work": "step", "net": net, "batch": batch}
            best = max(PRIVATE, key=lambda how: peers.rate(**step, how=how))
            private, plain, mine = peers.rate(**step, how=best), peers.rate(**step, how="plain"), ours.rate(**step, how="private")
            floors = {"to_private": FLOORS[net][0], "to_plain": FLOORS[net][1]}
            if batch >= OVERHEAD_FROM:
                floors["overhead_percent"] = MOST_OVERHEAD
            rows.append({
                "work": "step", "net": net, "batch": batch, "threads": threads, "unit": "examples/s",
                "peers": {how: round(peers.rate(**step, how=how)) for how in ["plain", *PRIVATE]}, "best_private_peer": best,
                "ours": round(mine), "ours_plain": round(ours.rate(**step, how="plain")), "ours_dpsgd": round(ours.rate(**step, how="dpsgd")),
                "to_private": round(mine / private, 2), "to_plain": round(mine / plain, 2),
                "overhead_percent": round(100 * (ours.rate(**step, how="plain") / mine - 1), 1),
                "floors": floors, "aims": {"to_private": AIMS[net][0], "to_plain": AIMS[net][1], "overhead_percent": AIM_OVERHEAD},
            })
        pfl, mine = peers.rate(work="round", net=net), ours.rate(work="round", net=net)
        rows.append({
            "work": "round", "net": net, "threads": threads, "unit": "ms", "peers": {"pfl-research": round(1000 / pfl, 1)},
            "ours": round(1000 / mine, 1), "to_private": round(mine / pfl, 2),
            "floors": {"to_private": FLOORS[net][2]}, "aims": {"to_private": AIMS[net][2]},
        })
    peers.close()
    ours.close()
    return rows


def missed(row: dict) -> list[str]:
    """The figures of a row that are worse than their floors."""
    worse = []
    for figure, floor in row["floors"].items():
        if row[figure] > floor if figure == "overhead_percent" else row[figure] < floor:
            worse.append(f"{row['net']} {row.get('batch', 'round')} {figure} {row[figure]} (floor {floor})")
    return worse


def show(rows: list[dict]) -> None:
    for threads in sorted({row["threads"] for row in rows}):
        print(f"\n{threads} thread{'s'[: threads > 1]}")
        print(f"{'step, examples/s':<18}{'plain':>9}{'private peer':>24}{'ours':>9}{'to private':>12}{'floor':>7}{'aim':>6}{'to plain':>10}{'floor':>7}{'aim':>6}{'overhead':>10}{'dpsgd':>9}")
        for row in (r for r in rows if r["threads"] == threads and r["work"] == "step"):
            peer = f"{row['peers'][row['best_private_peer']]} {row['best_private_peer']}"
            print(
                f"{row['net'] + ', batch ' + str(row['batch']):<18}{row['peers']['plain']:>9}{peer:>24}{row['ours']:>9}"
                f"{row['to_private']:>11}x{row['floors']['to_private']:>6}x{row['aims']['to_private']:>5}x"
                f"{row['to_plain']:>9}x{row['floors']['to_plain']:>6}x{row['aims']['to_plain']:>5}x{row['overhead_percent']:>9}%{row['ours_dpsgd']:>9}"
            )
        print(f"{'round, ms':<18}{'pfl-research':>33}{'ours':>9}")
        for row in (r for r in rows if r["threads"] == threads and r["work"] == "round"):
            print(
                f"{row['net']:<18}{row['peers']['pfl-research']:>33}{row['ours']:>9}"
                f"{row['to_private']:>11}x{row['floors']['to_private']:>6}x{row['aims']['to_private']:>5}x"
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=0.6, help="for each measurement")
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--nets", default="mlp,cnn,cifar")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    set_up()
    rows: list[dict] = []
    with tempfile.TemporaryDirectory() as folder:
        binary = f"{folder}/peers"
        subprocess.run(["go", "build", "-o", binary, "./bench/peers"], check=True, cwd=ROOT)
        for threads in options.threads.split(","):
            rows += run(binary, int(threads), options.nets.split(","), options.rounds, options.seconds)
    if options.json:
        print(json.dumps(rows, indent=1))
    else:
        print(f"best of {options.rounds}, in one run")
        show(rows)
    worse = [figure for row in rows if row["threads"] == 1 for figure in missed(row)]
    if worse:
        sys.exit(f"\nbench: below the floor with one thread: {'; '.join(worse)}")


if __name__ == "__main__":
    main()
