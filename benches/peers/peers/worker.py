"""One contestant at one work, in a process of its own: reads seconds, answers with times.

Called as `python -m peers.worker WORK CONTESTANT RECORD THREADS`. It says `{"ready": ..}` after warming up; then every
line of standard input is a number of seconds to measure for, and every answer one line of JSON.
"""

import json
import sys
import time

WARM_UP = 3
# Work that takes this long needs no warming up: its first time counts.
SLOW = 20.0
# And work that takes this long is done once.
ENDLESS = 60.0


def main():
    name, contestant, file, threads = sys.argv[1:]
    answers, sys.stdout = sys.stdout, sys.stderr
    import torch

    torch.set_num_threads(int(threads))
    torch.manual_seed(1)
    from .contestants import once
    from .record import Record
    from .works import WORKS

    work = next(work for work in WORKS if work.name == name)
    run = once(work, contestant, Record(file))
    warm = [timed(run)]
    while len(warm) < WARM_UP and sum(warm) < SLOW:
        warm.append(timed(run))
    kept = warm if len(warm) == 1 else []

    def answer(content):
        print(json.dumps(content), file=answers, flush=True)

    answer({"ready": True})
    for line in sys.stdin:
        budget, kept, times = float(line), [], kept
        while warm[0] < ENDLESS and (not times or sum(times) + times[-1] < budget):
            times.append(timed(run))
        answer({"times_ms": [1e3 * t for t in times], "peak_memory_mb": peak_memory_mb()})


def timed(run):
    """Seconds of one call."""
    began = time.perf_counter()
    run()
    return time.perf_counter() - began


def peak_memory_mb():
    """The largest resident memory so far, in 10^6 bytes."""
    try:
        with open("/proc/self/status") as status:
            line = next(line for line in status if line.startswith("VmHWM:"))
        return int(line.split()[1]) * 1024 / 1e6
    except OSError:
        import resource

        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak * (1 if sys.platform == "darwin" else 1024) / 1e6


if __name__ == "__main__":
    main()
