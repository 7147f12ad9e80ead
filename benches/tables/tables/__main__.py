"""Runs stroock with its defaults, and its rivals, on other people's tables."""

import argparse
import os
import sys
from importlib import import_module
from pathlib import Path

from . import data, machine

HERE = Path(__file__).resolve().parent.parent
ROOT = HERE.parent.parent
PARTS = ("imputation", "forecast", "classification")


class Asked:
    """What is asked for."""

    def __init__(self, options):
        self.seeds = [int(seed) for seed in options.seeds.split(",")]
        self.sets = options.sets.split(",") if options.sets else None
        self.hidden = options.hidden.split(",") if options.hidden else None
        self.data, self.deep, self.again = options.data, options.deep, options.again
        self.rivals = not options.stroock_only
        self.machine = {"machine": machine.describe(options.threads)}

    def chosen(self, sets):
        """The names of the sets that were asked for."""
        return [name for name in sets if self.sets is None or name.lower() in [one.lower() for one in self.sets]]


def arguments():
    """The command line."""
    parser = argparse.ArgumentParser(prog="benches/tables/run", description=__doc__)
    parser.add_argument("--only", metavar="PART[,PART]", help="some of: " + ", ".join(PARTS))
    parser.add_argument("--sets", metavar="SET[,SET]", help="some of the sets")
    parser.add_argument("--hidden", metavar="PATTERN", help="imputation: single or runs")
    parser.add_argument("--seeds", default="1", metavar="SEED[,SEED]", help="of stroock and of random rivals [1]")
    parser.add_argument("--deep", action="store_true", help="also SAITS and BRITS; installs PyTorch")
    parser.add_argument("--rivals-only", action="store_true", help="do not run stroock")
    parser.add_argument("--stroock-only", action="store_true", help="do not run rivals")
    parser.add_argument("--again", action="store_true", help="run rivals whose results are known, too")
    parser.add_argument("--report", action="store_true", help="only write results.md from results.json")
    parser.add_argument("--label", help="what build STROOCK is [the commit of this checkout]")
    parser.add_argument("--fit-options", default="", help="more options of `stroock fit`, as in '--epochs 3'")
    parser.add_argument("--data", type=Path, help="folder of the public data sets [data of STROOCK_SHARED]")
    parser.add_argument("--out", type=Path, default=HERE, help="folder of results.md and results.json")
    parser.add_argument("--threads", type=int, default=2, help="of everyone [2]")
    options = parser.parse_args()
    options.data = options.data or data.shared(ROOT)
    return options


def say(text):
    """Progress, beside the results."""
    print(text, file=sys.stderr, flush=True)


def main():
    options = arguments()
    machine.keep_to(options.threads)
    from . import report
    from .store import Store

    store = Store(options.out / "results.json")
    if not options.report:
        measure(options, store)
    report.write(store, options.out)


def measure(options, store):
    """Runs the parts that are asked for."""
    from .stroock import FitStopped, Stroock, build, commit

    chosen = options.only.split(",") if options.only else PARTS
    unknown = [name for name in chosen if name not in PARTS]
    if unknown:
        sys.exit(f"no part is called {', '.join(unknown)}; there are {', '.join(PARTS)}")
    asked = Asked(options)
    stroock = None
    if not options.rivals_only:
        target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
        program, label = build(target), options.label or f"commit {commit()}"
        stroock = Stroock(program, label, target / "tables-work", options.fit_options.split())
    for name in chosen:
        # The packages of a part take seconds to load.
        part = import_module(f".{name}.part", __package__)
        try:
            part.run(asked, stroock, store, say)
        except FitStopped as fault:
            sys.exit(f"a fit was stopped ({fault.args[0]}); nothing of it is kept")


if __name__ == "__main__":
    main()
