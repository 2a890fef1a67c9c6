"""Asks dp-accounting for epsilon of random compositions, and writes what it says as test vectors.

The Go tests read the file and hold our own accountants against it, so they need no Python:
our upper end is never below the optimistic value and at most 0.5% above the pessimistic one.

    python oracle/compare.py            # writes accountant/testdata/dp_accounting.json
"""

from __future__ import annotations

import argparse
import datetime
import importlib.metadata
import json
import logging
import math
import pathlib
import random
import warnings
from dataclasses import asdict, dataclass

from dp_accounting import dp_event
from dp_accounting.pld import privacy_loss_distribution as pld
from dp_accounting.rdp import rdp_privacy_accountant as rdp

VECTORS = pathlib.Path(__file__).parent.parent / "accountant" / "testdata" / "dp_accounting.json"
COARSE = 1e-4  # dp-accounting's default grid
FINE = 4e-6  # what a few seconds a case allow


@dataclass(frozen=True)
class Term:
    """A mechanism for a query of sensitivity `shift`, Poisson-sampled at `rate`, run `count` times."""

    mechanism: str  # gaussian | laplace | discrete_gaussian
    scale: float  # standard deviation, or Laplace's scale
    shift: int
    rate: float
    count: int


def log_uniform(r: random.Random, low: float, high: float) -> float:
    return float(f"{math.exp(r.uniform(math.log(low), math.log(high))):.4g}")


def draw_term(r: random.Random, mechanism: str, most: int) -> Term:
    full = 0.2 if mechanism == "gaussian" else 0.5  # the others have a Renyi bound in the full batch only
    rate = 1.0 if r.random() < full else log_uniform(r, 0.003, 0.5)
    shift = r.randint(1, 3) if mechanism == "discrete_gaussian" else 1
    # Enough noise that a full-batch run of `most` steps does not end up with an epsilon of hundreds.
    scale = log_uniform(r, 0.7, 4) if rate < 1 else log_uniform(r, 2, 40)
    return Term(mechanism, scale * shift, shift, rate, int(log_uniform(r, 1, most)))


def draw_case(r: random.Random, mechanism: str) -> tuple[list[Term], float]:
    terms = [draw_term(r, mechanism, 2000)]
    if r.random() < 0.25:
        terms.append(draw_term(r, mechanism, 200))
    return terms, log_uniform(r, 1e-10, 1e-3)


def one_pld(t: Term, pessimistic: bool, interval: float) -> pld.PrivacyLossDistribution:
    common = {
        "sensitivity": t.shift,
        "pessimistic_estimate": pessimistic,
        "value_discretization_interval": interval,
        "sampling_prob": t.rate,
        "use_connect_dots": pessimistic,  # there is no optimistic version of it
    }
    if t.mechanism == "gaussian":
        return pld.from_gaussian_mechanism(t.scale, **common)
    if t.mechanism == "laplace":
        return pld.from_laplace_mechanism(t.scale, **common)
    return pld.from_discrete_gaussian_mechanism(t.scale, **common)


def pld_epsilon(terms: list[Term], delta: float, pessimistic: bool, interval: float) -> float:
    total = None
    for t in terms:
        part = one_pld(t, pessimistic, interval).self_compose(t.count)
        total = part if total is None else total.compose(part)
    assert total is not None
    return float(total.get_epsilon_for_delta(delta))


def rdp_epsilon(terms: list[Term], delta: float) -> float | None:
    """Epsilon by Renyi orders; None where dp-accounting has no bound (sampled Laplace and discrete Gaussian).

    The discrete Gaussian has the Gaussian's Renyi bound (Canonne, Kamath, Steinke 2020, Proposition 5).
    """
    accountant = rdp.RdpAccountant()
    for t in terms:
        if t.mechanism != "gaussian" and t.rate < 1:
            return None
        event: dp_event.DpEvent
        if t.mechanism == "laplace":
            event = dp_event.LaplaceDpEvent(t.scale)
        else:
            event = dp_event.GaussianDpEvent(t.scale / t.shift)
        if t.rate < 1:
            event = dp_event.PoissonSampledDpEvent(t.rate, event)
        accountant.compose(event, t.count)
    return float(accountant.get_epsilon(delta))


def vector(terms: list[Term], delta: float) -> dict[str, object] | None:
    """One test vector; None where epsilon is zero or so large that nobody would ask."""
    coarse = pld_epsilon(terms, delta, True, COARSE)
    if not 1e-3 < coarse < 100:
        return None
    # The optimistic value is off by up to half a step for each run: take a step that makes this about 1%.
    count = sum(t.count for t in terms)
    interval = float(f"{min(COARSE, max(FINE, 0.01 * coarse / count)):.1g}")
    return {
        "terms": [asdict(t) for t in terms],
        "delta": delta,
        "interval": interval,
        "pld_pessimistic": pld_epsilon(terms, delta, True, interval),
        "pld_optimistic": pld_epsilon(terms, delta, False, interval),
        "rdp": rdp_epsilon(terms, delta),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", type=int, default=300)
    parser.add_argument("--seed", type=int, default=20260101)
    parser.add_argument("--out", type=pathlib.Path, default=VECTORS)
    args = parser.parse_args()
    warnings.filterwarnings("ignore")
    logging.getLogger("absl").setLevel(logging.ERROR)  # orders that do not converge are left out, and said so

    r = random.Random(args.seed)
    vectors: list[dict[str, object]] = []
    while len(vectors) < args.cases:
        mechanism = ("gaussian", "gaussian", "laplace", "discrete_gaussian")[len(vectors) % 4]
        v = vector(*draw_case(r, mechanism))
        if v is not None:
            vectors.append(v)
            print(f"\r{len(vectors)}/{args.cases}", end="", flush=True)
    print()

    document = {
        "source": {
            "tool": "dp-accounting (PyPI)",
            "version": importlib.metadata.version("dp-accounting"),
            "command": f"python oracle/compare.py --cases {args.cases} --seed {args.seed}",
            "date": datetime.date.today().isoformat(),
            "rdp_orders": "the tool's default",
        },
        "vectors": vectors,
    }
    args.out.parent.mkdir(parents=True, exist_ok=True)
    with args.out.open("w") as f:
        f.write('{"source": ' + json.dumps(document["source"]) + ',\n"vectors": [\n')
        f.write(",\n".join(json.dumps(v) for v in vectors))
        f.write("\n]}\n")
    print(f"wrote {len(vectors)} vectors to {args.out}")


if __name__ == "__main__":
    main()
