"""Checks that contestants compute the same numbers, then times them side by side."""

import argparse
import os
import subprocess
import sys
from pathlib import Path

from . import golden, machine, report, rounds
from .agreement import Disagreement
from .check import OTHER_MODELS, check
from .record import Record
from .stroock import Stroock
from .works import WORKS

HERE = Path(__file__).resolve().parent.parent
ROOT = HERE.parent.parent


def arguments():
    """What is asked for."""
    parser = argparse.ArgumentParser(prog="benches/peers/run", description=__doc__)
    parser.add_argument("--out", type=Path, default=HERE, help="folder of results.md and results.json")
    parser.add_argument("--only", metavar="WORK[,WORK]", help="some of: " + ", ".join(work.name for work in WORKS))
    parser.add_argument("--rounds", type=int, default=3, help="alternating rounds [3]")
    parser.add_argument("--seconds-per-round", type=float, default=5.0, help="of every contestant [5]")
    parser.add_argument("--threads", type=int, default=2, help="of everyone [2]")
    parser.add_argument("--quick", action="store_true", help="one round of at most one second each")
    parser.add_argument("--add", action="store_true", help="keep the rows of other works in the results that are there")
    parser.add_argument("--check-only", action="store_true", help="check agreement, and time nothing")
    return parser.parse_args()


def chosen(only):
    """The works that were asked for; a name may be a beginning."""
    if not only:
        return WORKS
    found = []
    for name in only.split(","):
        exact = [work for work in WORKS if work.name == name]
        found += exact or [work for work in WORKS if work.name.startswith(name)]
    if not found:
        sys.exit(f"no work is called {only}; there are " + ", ".join(work.name for work in WORKS))
    return found


def say(text):
    """Progress, beside the results."""
    print(text, file=sys.stderr, flush=True)


def agreements(works, stroock, records):
    """The largest difference of every contestant; raises where one disagrees."""
    rows = []

    def note(work, contestant, found):
        say(f"  {work}, {contestant}: {found.error:.1e} in {found.name}")
        rows.append({"work": work, "contestant": contestant, "error": found.error, "tensor": found.name})

    for name, found in golden.check(golden.folder(ROOT)):
        note("golden values", name.split(", ")[1], found)
    done = {}
    for work in works:
        for contestant in work.contestants:
            if contestant in OTHER_MODELS or contestant in work.unchecked:
                continue
            key = (work.kind, contestant, work.check, work.width)
            if key not in done:
                record = Record(stroock.record(work.check, records / (file_name(work.check) + ".safetensors")))
                try:
                    done[key] = check(work, contestant, record)
                except Disagreement as fault:
                    raise Disagreement(f"{work.name}, {contestant}: {fault}") from None
            note(work.name, contestant, done[key])
    return rows


def file_name(arguments):
    """A name for the record of these arguments."""
    return "-".join(argument.strip("-") for argument in arguments)


def main():
    asked = arguments()
    if asked.quick:
        asked.rounds, asked.seconds_per_round = 1, 1.0
    machine.keep_to(asked.threads)
    os.environ.update(machine.shared_environment(asked.threads))
    import torch

    torch.set_num_threads(asked.threads)
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    stroock = Stroock(target / "release" / "stroock", dict(os.environ))
    records = target / "peers-records"
    records.mkdir(parents=True, exist_ok=True)
    for old in records.glob("*.safetensors"):
        old.unlink()

    results = {
        "machine": machine.describe(asked.threads, stroock.version()),
        "rounds": asked.rounds,
        "seconds_per_round": asked.seconds_per_round,
        "agreement": [],
        "works": [],
    }
    works = chosen(asked.only)
    earlier = report.read(asked.out) if asked.add else None
    if earlier is not None and not machine.is_same(earlier["machine"], results["machine"]):
        sys.exit(f"the results in `{asked.out}` are of another machine, other threads or versions: leave out --add")
    say("numbers:")
    try:
        results["agreement"] = agreements(works, stroock, records)
    except Disagreement as fault:
        sys.exit(f"not timed, because the numbers differ: {fault}")
    if asked.check_only:
        print("\n".join(report.agreement(results["agreement"])))
        return
    for work in works:
        record = stroock.record(work.record, records / (file_name(work.record) + ".safetensors"))
        found = rounds.measure(
            work, stroock, record, asked.rounds, asked.seconds_per_round, asked.threads, HERE, say
        )
        summaries = {name: times.summary() for name, times in found.items()}
        row = {"name": work.name, "about": work.about, "contestants": summaries}
        if work.samples:
            row["samples"] = work.samples
        results["works"].append(row)
        # After every work: what has been measured is kept when a later one is stopped.
        report.write(report.merged(earlier, results, WORKS), asked.out)
    print(report.markdown(results))


if __name__ == "__main__":
    try:
        main()
    except subprocess.CalledProcessError as error:
        sys.exit(f"`{' '.join(map(str, error.cmd))}` failed")
