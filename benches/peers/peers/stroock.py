"""The command `stroock`: measurements and records."""

import json
import subprocess


class Stroock:
    """One build of the command."""

    def __init__(self, program, environment):
        self.program, self.environment = str(program), environment

    def run(self, *arguments):
        """Standard output of a call."""
        done = subprocess.run(
            [self.program, *arguments], env=self.environment, stdout=subprocess.PIPE, check=True, text=True
        )
        return done.stdout

    def version(self):
        """Its version, without the commit that stands behind it."""
        return self.run("--version").split()[1]

    def record(self, arguments, file):
        """Writes a record, if it is not there yet."""
        if not file.exists():
            self.run("bench", *arguments, "--record", str(file))
        return file

    def measure(self, arguments, seconds):
        """A report with as many repeats as fit into so many seconds, at least three."""
        first = json.loads(self.run("bench", *arguments, "--repeat", "3", "--json"))
        repeat = min(max(int(1e3 * seconds / first["median_ms"]), 3), 2000)
        return json.loads(self.run("bench", *arguments, "--repeat", str(repeat), "--json"))
