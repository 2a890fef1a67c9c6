#!/usr/bin/env python3
"""Compares a round of secure aggregation with Flower's SecAgg+, in one run, on one core.

    bench/secagg/flower.py [--rounds N] [--json]

100 clients, 100,000 weights modulo 2^32, every client a neighbour of every other, 67 of 100 shares restore a secret; ten clients drop
out after they shared keys. Both sides are measured in processor time, in turn, and the best of the rounds counts for both.

Flower's client is run as it is: the four stages of its client module. Its server is put together from the primitives that its workflow
calls, each measured by itself and multiplied by how often the workflow calls it, because the whole takes a minute. It restores a
secret from all shares that came; restoring from 67 would be enough, so that figure, which is kinder to Flower, is the one that is compared.
What ours does besides, and Flower does not: signatures, the agreement on one set of survivors, commitments to seeds; and masks from
256-bit seeds by AES, where Flower's come from 32 bits by a Mersenne twister. Transport is left out on both sides.

Flower is installed, at the pinned version, into a virtual environment in .cache/flower if it is not there. Exit code 1 if a
ratio is below its floor.
"""

from __future__ import annotations

import argparse
import importlib
import json
import logging
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Callable

FLOWER = "flwr==1.22.0"
ROOT = Path(__file__).resolve().parent.parent.parent
VENV = ROOT / ".cache" / "flower"

CLIENTS, WEIGHTS, THRESHOLD, DROPOUTS = 100, 100_000, 67, 10
MODULUS = 1 << 32
CLIENT_FLOOR, SERVER_FLOOR = 20.0, 100.0


def in_venv() -> None:
    """Starts this script again with a Python that has Flower, if this one has not."""
    try:
        import flwr  # noqa: F401
    except ImportError:
        python = VENV / "bin" / "python"
        if Path(sys.prefix) == VENV:
            sys.exit(f"bench: {VENV} has no flwr: remove it and try again")
        if not python.exists():
            print(f"installing {FLOWER} into {VENV.relative_to(ROOT)}", file=sys.stderr)
            subprocess.run([sys.executable, "-m", "venv", str(VENV)], check=True)
        subprocess.run([str(python), "-m", "pip", "install", "-q", FLOWER], check=True)
        os.execv(python, [str(python), *sys.argv])


def seconds(work: Callable[[], object], least: float = 0.0) -> float:
    """Processor time of one call, from as many as fill the least time."""
    calls = 0
    start = time.process_time()
    while calls == 0 or time.process_time() - start < least:
        work()
        calls += 1
    return (time.process_time() - start) / calls


class Flower:
    """One client of Flower among others, and its server's primitives."""

    def __init__(self) -> None:
        import numpy as np
        from flwr.common import ndarrays_to_parameters
        from flwr.common.secure_aggregation.crypto import symmetric_encryption as crypto

        logging.disable(logging.WARNING)
        self.parameters = ndarrays_to_parameters([np.zeros(WEIGHTS, dtype=np.float32)])
        self.peers = {}
        for peer in range(1, CLIENTS):
            pairs = [crypto.generate_key_pairs() for _ in range(2)]
            self.peers[peer] = [
                (crypto.private_key_to_bytes(private), crypto.public_key_to_bytes(public)) for private, public in pairs
            ]

    def client(self) -> float:
        """The four stages of the client with number 0."""
        # the package exports a function under the name of this module
        mod = importlib.import_module("flwr.client.mod.secure_aggregation.secaggplus_mod")
        from flwr.common.secure_aggregation.crypto import symmetric_encryption as crypto
        from flwr.common.secure_aggregation.secaggplus_constants import Key
        from flwr.common.secure_aggregation.secaggplus_utils import share_keys_plaintext_concat

        state = mod.SecAggPlusState()
        state.nid = 0
        spent = 0.0

        def stage(work: Callable[[], dict]) -> dict:
            nonlocal spent
            start = time.process_time()
            out = work()
            spent += time.process_time() - start
            return out

        keys = stage(lambda: mod._setup(state, {
            Key.SAMPLE_NUMBER: CLIENTS, Key.SHARE_NUMBER: CLIENTS, Key.THRESHOLD: THRESHOLD, Key.CLIPPING_RANGE: 8.0,
            Key.TARGET_RANGE: 1 << 22, Key.MOD_RANGE: MODULUS, Key.MAX_WEIGHT: 1000.0,
        }))
        everybody = {"0": [keys[Key.PUBLIC_KEY_1], keys[Key.PUBLIC_KEY_2]]}
        everybody |= {str(peer): [pair[0][1], pair[1][1]] for peer, pair in self.peers.items()}
        stage(lambda: mod._share_keys(state, everybody))

        ciphertexts = []  # what the others seal to this client costs them, not it
        share = bytes(4 + 3 * 16)
        for peer in self.peers:
            plain = share_keys_plaintext_concat(peer, 0, share, bytes(4 + 20 * 16))
            ciphertexts.append(crypto.encrypt(state.ss2_dict[peer], plain))
        masked = {Key.CIPHERTEXT_LIST: ciphertexts, Key.SOURCE_LIST: list(self.peers)}
        stage(lambda: mod._collect_masked_vectors(state, masked, 1, self.parameters))
        alive = list(range(CLIENTS - DROPOUTS))
        stage(lambda: mod._unmask(state, {
            Key.ACTIVE_NODE_ID_LIST: alive, Key.DEAD_NODE_ID_LIST: list(range(CLIENTS - DROPOUTS, CLIENTS)),
        }))
        return spent

    def server(self, shares: int) -> float:
        """A whole round of the server, put together from its primitives."""
        from flwr.common.secure_aggregation.crypto import symmetric_encryption as crypto
        from flwr.common.secure_aggregation.crypto.shamir import combine_shares, create_shares
        from flwr.common.secure_aggregation.ndarrays_arithmetic import parameters_addition
        from flwr.common.secure_aggregation.secaggplus_utils import pseudo_rand_gen

        shape = [(1,), (WEIGHTS,)]  # the weight of a client goes first
        vector = pseudo_rand_gen(bytes(32), MODULUS, shape)
        seed = os.urandom(32)
        secret = self.peers[1][0][0]
        of_seed = create_shares(seed, THRESHOLD, CLIENTS)[:shares]
        of_secret = create_shares(secret, THRESHOLD, CLIENTS)[:shares]
        assert combine_shares(of_seed) == seed and combine_shares(of_secret) == secret
        public = self.peers[2][0][1]

        alive = CLIENTS - DROPOUTS
        expand = seconds(lambda: pseudo_rand_gen(seed, MODULUS, shape), 0.2)
        add = seconds(lambda: parameters_addition(vector, vector), 0.1)
        agree = seconds(
            lambda: crypto.generate_shared_key(crypto.bytes_to_private_key(secret), crypto.bytes_to_public_key(public)), 0.2
        )
        restore_seed = seconds(lambda: combine_shares(of_seed), 0.2)
        restore_secret = seconds(lambda: combine_shares(of_secret), 0.2)
        return (
            alive * add  # the sum of the masked vectors
            + alive * (restore_seed + expand + add)
            + DROPOUTS * (restore_secret + (CLIENTS - 1) * (agree + expand + add))
        )


def ours(binary: str) -> tuple[float, float]:
    """Seconds of one client and of the server."""
    out = subprocess.run(
        [binary, "-test.run=^$", "-test.bench=^BenchmarkRound$/^drops=10$", "-test.benchtime=1x", "-test.cpu=1"],
        check=True, capture_output=True, text=True, cwd=ROOT / "secagg",
    ).stdout
    client, server = re.search(r"([\d.e+]+) client-ms", out), re.search(r"([\d.e+]+) server-ms", out)
    if not client or not server:
        sys.exit(f"bench: no times in:\n{out}")
    return float(client[1]) / 1e3, float(server[1]) / 1e3


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    in_venv()

    flower = Flower()
    best = {"client": [1e9, 1e9], "server": [1e9, 1e9]}
    all_shares = 1e9
    with tempfile.TemporaryDirectory() as folder:
        binary = f"{folder}/secagg.test"
        subprocess.run(["go", "test", "-c", "-o", binary, "./secagg"], check=True, cwd=ROOT)
        for _ in range(options.rounds):
            client, server = ours(binary)
            best["client"] = [min(best["client"][0], flower.client()), min(best["client"][1], client)]
            best["server"] = [min(best["server"][0], flower.server(THRESHOLD)), min(best["server"][1], server)]
        all_shares = flower.server(CLIENTS - DROPOUTS)

    rows = [
        {
            "who": who, "flower_ms": round(1e3 * best[who][0], 1), "ours_ms": round(1e3 * best[who][1], 1),
            "ratio": round(best[who][0] / best[who][1], 1), "floor": floor,
        }
        for who, floor in (("client", CLIENT_FLOOR), ("server", SERVER_FLOOR))
    ]
    if options.json:
        print(json.dumps({"rows": rows, "flower_server_from_all_shares_ms": round(1e3 * all_shares, 1)}, indent=1))
    else:
        print(f"{CLIENTS} clients, {WEIGHTS} weights, {DROPOUTS} dropouts; milliseconds of one core, best of {options.rounds}")
        print(f"{'':<10}{FLOWER:>14}{'ours':>10}{'ratio':>10}{'floor':>8}")
        for row in rows:
            print(f"{row['who']:<10}{row['flower_ms']:>14}{row['ours_ms']:>10}{row['ratio']:>9}x{row['floor']:>7g}x")
        print(f"Flower's server as its workflow does it, from all shares that came: {1e3 * all_shares:.0f} ms")
    missed = [row["who"] for row in rows if row["ratio"] < row["floor"]]
    if missed:
        sys.exit(f"bench: below the floor: {', '.join(missed)}")


if __name__ == "__main__":
    main()
