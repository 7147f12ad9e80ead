"""What the measurements were made on."""

import datetime
import os
import platform
from importlib import metadata

PACKAGES = ("torch", "torchsde", "torchdiffeq", "jax", "diffrax", "equinox", "numpy")


def processor():
    """The model of the processor."""
    try:
        with open("/proc/cpuinfo") as lines:
            return next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def describe(threads, stroock):
    """Machine, versions, threads and date."""
    return {
        "processor": processor(),
        "cores": os.cpu_count(),
        "threads": threads,
        "system": f"{platform.system()} {platform.machine()}",
        "date": datetime.date.today().isoformat(),
        "stroock": stroock,
        "python": platform.python_version(),
        "packages": {name: metadata.version(name) for name in PACKAGES},
        "load": round(os.getloadavg()[0], 2),
    }


def is_same(one, other):
    """Whether two descriptions are alike in all but date and load."""
    passing = ("date", "load")
    return all(one.get(key) == other[key] for key in other if key not in passing)


def keep_to(threads):
    """Keeps this process and all that it starts to so many processors, where the system can."""
    if hasattr(os, "sched_setaffinity"):
        allowed = sorted(os.sched_getaffinity(0))[:threads]
        os.sched_setaffinity(0, allowed)


def shared_environment(threads):
    """Variables that give every contestant the same number of threads."""
    count = str(threads)
    return {
        **{name: count for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "RAYON_NUM_THREADS")},
        "JAX_PLATFORMS": "cpu",
        "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=true",
        "TF_CPP_MIN_LOG_LEVEL": "2",
        "PYTHONWARNINGS": "ignore",
    }
