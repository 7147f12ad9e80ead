"""What the measurements were made on, and with."""

import datetime
import os
import platform
from importlib import metadata


def processor():
    """The model of the processor."""
    try:
        with open("/proc/cpuinfo") as lines:
            return next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def describe(threads):
    """Machine, threads, date and load."""
    return {
        "processor": processor(),
        "cores": os.cpu_count(),
        "threads": threads,
        "system": f"{platform.system()} {platform.machine()}",
        "date": datetime.date.today().isoformat(),
        "load": round(os.getloadavg()[0], 2),
    }


def versions(packages):
    """Versions of Python and of packages."""
    return f"Python {platform.python_version()}, " + ", ".join(f"{name} {metadata.version(name)}" for name in packages)


def keep_to(threads):
    """So many threads for everyone."""
    for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS", "RAYON_NUM_THREADS"):
        os.environ[name] = str(threads)
