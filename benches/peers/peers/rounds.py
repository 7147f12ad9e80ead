"""Measures all contestants of a work in turn, round after round."""

import json
import os
import statistics
import subprocess
import sys
from dataclasses import dataclass, field

from .contestants import environment


@dataclass
class Times:
    """All that was measured of one contestant."""

    times_ms: list = field(default_factory=list)
    peak_memory_mb: float | None = None
    failure: str | None = None

    def add(self, report):
        """Takes in a report."""
        self.times_ms += report["times_ms"]
        peaks = [peak for peak in (self.peak_memory_mb, report.get("peak_memory_mb")) if peak is not None]
        self.peak_memory_mb = max(peaks, default=None)

    def summary(self):
        """Median, spread, number and memory."""
        if not self.times_ms:
            return {"failure": self.failure}
        ordered = sorted(self.times_ms)
        at = lambda level: ordered[round(level * (len(ordered) - 1))]  # noqa: E731
        return {
            "median_ms": statistics.median(ordered),
            "low_ms": at(0.1),
            "high_ms": at(0.9),
            "repeats": len(ordered),
            "peak_memory_mb": self.peak_memory_mb,
        }


class Worker:
    """A process that waits until it is asked to measure."""

    def __init__(self, work, contestant, record, threads, folder):
        command = [sys.executable, "-m", "peers.worker", work.name, contestant, str(record), str(threads)]
        variables = {**os.environ, **environment(contestant)}
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(command, cwd=folder, env=variables, stdin=pipe, stdout=pipe, text=True)
        self.answer()

    def answer(self):
        """The next line that it says."""
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"stopped with exit code {self.process.wait()}")
        return json.loads(line)

    def measure(self, seconds):
        """Times of about so many seconds."""
        self.process.stdin.write(f"{seconds}\n")
        self.process.stdin.flush()
        return self.answer()

    def close(self):
        """Ends the process."""
        self.process.stdin.close()
        self.process.wait()


def measure(work, stroock, record, rounds, seconds, threads, folder, say):
    """Times of stroock and of every contestant, by name.

    One process works at a time. The order turns round from one round to the next, so that a drift of the machine
    meets all alike. A contestant that fails is reported as failed.
    """
    found = {name: Times() for name in ("stroock", *work.contestants)}
    workers = {}
    for name in work.contestants:
        say(f"{work.name}: {name} warms up")
        try:
            workers[name] = Worker(work, name, record, threads, folder)
        except RuntimeError as error:
            found[name].failure = str(error)
    try:
        for turn in range(rounds):
            order = ["stroock", *workers]
            for name in order if turn % 2 == 0 else reversed(order):
                if found[name].failure:
                    continue
                say(f"{work.name}: round {turn + 1} of {rounds}, {name}")
                try:
                    if name == "stroock":
                        found[name].add(stroock.measure(work.measure, seconds))
                    else:
                        found[name].add(workers[name].measure(seconds))
                except RuntimeError as error:
                    found[name].failure = str(error)
    finally:
        for worker in workers.values():
            worker.close()
    return found
