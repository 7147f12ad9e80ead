"""How long a million observations take from a data frame into a table, by the kind and the form of the frame.

    python python/benches/tables.py [--repeat 7] [--only pandas]

The least of the repeats, in milliseconds: on the clock, and of the processor, which other programs disturb less. `handed over`
is the way from the frame into Arrow's terms, `read` the whole way into the series of a table.
"""

import argparse
import time

import numpy as np

from stroock import _stroock
from stroock._tables import read_options, source

OBSERVATIONS, SERIES = 1_000_000, 1000


def wide():
    """Four variables at 250 times of 1000 series."""
    rows = OBSERVATIONS // 4
    random = np.random.default_rng(0)
    values = {f"x{k}": random.normal(size=rows) for k in range(4)}
    return {"id": np.repeat(np.arange(SERIES), rows // SERIES), "time": np.tile(np.arange(250.0), SERIES), **values}


def single():
    """One variable at 1000 times of 1000 series."""
    values = np.random.default_rng(0).normal(size=OBSERVATIONS)
    return {"id": np.repeat(np.arange(SERIES), 1000), "time": np.tile(np.arange(1000.0), SERIES), "x": values}


def long():
    """A row for each of four variables at 250 times of 1000 series, with texts for series and variables."""
    rows = np.arange(OBSERVATIONS)
    return {
        "id": np.array([f"patient {k:04d}" for k in range(SERIES)], dtype=object)[rows // 1000],
        "time": (rows // 4 % 250).astype(float),
        "variable": np.array(["pulse", "temperature", "pressure", "weight"], dtype=object)[rows % 4],
        "value": np.random.default_rng(0).normal(size=OBSERVATIONS),
    }


def dated():
    """One variable at 1000 dates of 1000 series with texts as names."""
    table = single()
    start = np.datetime64("2024-01-01", "us")
    table["time"] = start + table["time"].astype("timedelta64[m]").astype("timedelta64[us]")
    table["id"] = np.array([f"site {k:04d}" for k in range(SERIES)], dtype=object)[table["id"]]
    return table


def frames(columns):
    """The table as every kind of frame that is installed."""
    yield "dict", columns
    try:
        import pandas

        frame = pandas.DataFrame(columns)
        yield "pandas", frame
        if any(frame[name].dtype.kind not in "fiM" for name in frame):
            texts = {name: "category" for name in frame if frame[name].dtype.kind not in "fiM"}
            yield "pandas, categories", frame.astype(texts)
    except ImportError:
        pass
    try:
        import polars

        yield "polars", polars.DataFrame(columns)
    except ImportError:
        pass
    try:
        import pyarrow

        yield "pyarrow", pyarrow.table(columns)
    except ImportError:
        pass


def least(run, repeat):
    """The least time of a call in milliseconds: on the clock, and of the processor."""
    clock, processor = [], []
    for _ in range(repeat):
        begun, worked = time.perf_counter(), time.process_time()
        run()
        clock.append(time.perf_counter() - begun)
        processor.append(time.process_time() - worked)
    return 1e3 * min(clock), 1e3 * min(processor)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--repeat", type=int, default=7)
    parser.add_argument("--only", default="", help="kinds of frames that begin so")
    arguments = parser.parse_args()
    print(f"{'form':<8}{'frame':<20}{'handed over':>22}{'read':>22}")
    for form in (wide, single, long, dated):
        for kind, frame in frames(form()):
            if not kind.startswith(arguments.only):
                continue

            def read():
                table = source(frame)
                _stroock.extent(table.frame, *read_options(table.roles, {}))

            both = [least(lambda: source(frame), arguments.repeat), least(read, arguments.repeat)]
            cells = [f"{clock:.0f} ({processor:.0f})" for clock, processor in both]
            print(f"{form.__name__:<8}{kind:<20}{cells[0]:>22}{cells[1]:>22}", flush=True)


if __name__ == "__main__":
    main()
