"""Seconds on the wall and of the processors."""

import resource
import time


def processors():
    """Seconds that this process and its finished children have used."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


class Clock:
    """`with Clock() as clock: ...`, then `clock.seconds` and `clock.processor_seconds`."""

    def __enter__(self):
        self.begin, self.used = time.perf_counter(), processors()
        return self

    def __exit__(self, *_):
        self.seconds = round(time.perf_counter() - self.begin, 2)
        self.processor_seconds = round(processors() - self.used, 2)

    def as_row(self, name):
        """The two figures under names of a part of the work."""
        return {f"{name}_seconds": self.seconds, f"{name}_processor_seconds": self.processor_seconds}
