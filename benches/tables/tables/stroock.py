"""The command `stroock`, called as a user would."""

import hashlib
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pandas as pd

from .clock import Clock
from .scores import LEVELS, Predictions

ROOT = Path(__file__).resolve().parents[3]


class StroockFailed(Exception):
    """A call that ended with an error, with what it said last."""


def build(target):
    """The command that STROOCK names, or the release build of this checkout."""
    if "STROOCK" in os.environ:
        return Path(os.environ["STROOCK"]).resolve()
    subprocess.run(["cargo", "build", "--release", "--quiet", "-p", "stroock-cli"], cwd=ROOT, check=True)
    return target / "release" / "stroock"


def commit():
    """The commit of this checkout, and whether it has been changed since."""
    say = lambda *words: subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True).stdout.strip()
    changed = say("status", "--porcelain", "--untracked-files=no", "--", "crates", "Cargo.lock")
    return say("rev-parse", "--short=7", "HEAD") + (" with changes" if changed else "")


class FitStopped(Exception):
    """A fit that a signal ended early: no result of the defaults, and none of anything else."""


class Stroock:
    """One build of the command, which works in a folder of its own."""

    def __init__(self, program, label, folder, options=()):
        self.program, self.folder, self.options = str(program), folder, list(options)
        text = Path(program).read_bytes()
        version = subprocess.run([self.program, "--version"], capture_output=True, text=True, check=True)
        self.about = f"{version.stdout.strip()}, {label}, binary {hashlib.sha256(text).hexdigest()[:8]}"

    def begin(self, name):
        """An empty folder for one fit."""
        self.work = self.folder / f"{name}-{os.getpid()}"
        shutil.rmtree(self.work, ignore_errors=True)
        self.work.mkdir(parents=True)
        self.commands = []
        return self.work

    def measured(self, measure, say):
        """A measurement with its calls and this build; a failure is a result, too. The folder of the fit is removed."""
        try:
            found = measure()
        except StroockFailed as fault:
            say(f"  stroock failed: {fault}")
            found = {"failure": str(fault)}
        shutil.rmtree(self.work, ignore_errors=True)
        return found | {"commands": [shown(command) for command in self.commands], "by": self.about}

    def call(self, *arguments):
        """Runs a call in the folder of the fit; its clock."""
        arguments = [str(argument) for argument in arguments]
        self.commands.append("stroock " + " ".join(arguments))
        print("    " + shown(self.commands[-1]), file=sys.stderr, flush=True)
        with Clock() as clock, open(self.work / "log.txt", "a") as log:
            done = subprocess.run([self.program, *arguments], cwd=self.work, stdout=log, stderr=log)
        if done.returncode != 0:
            last = (self.work / "log.txt").read_text().strip().splitlines()[-4:]
            raise StroockFailed(f"{shown(self.commands[-1])}: " + " ".join(line.strip() for line in last))
        return clock

    def fit(self, *arguments):
        """`stroock fit`, with the options that were given for every fit."""
        clock = self.call("fit", *arguments, "--out", "run", *self.options)
        # Whoever stops a fit gets a model, and success.
        stopped = [line for line in (self.work / "log.txt").read_text().splitlines() if line.startswith("stopped after")]
        if stopped:
            raise FitStopped(stopped[0])
        return clock

    def predictions(self, command, *arguments):
        """`stroock impute` or `forecast` with the quantiles that are scored: the table and the clock."""
        levels = ",".join(f"{level:g}" for level in LEVELS)
        clock = self.call(command, "run", *arguments, "--quantiles", levels, "--output", "answers.parquet")
        return pd.read_parquet(self.work / "answers.parquet"), clock

    def window(self):
        """The length of the windows of the run, in seconds for dates; `None` where series are whole."""
        for name in ("config.toml", "run.toml"):
            file = self.work / "run" / name
            if file.exists():
                return find(tomllib.loads(file.read_text()), "sampling", {}).get("window")
        return None


def find(tree, name, otherwise):
    """The first entry of this name in nested tables."""
    if name in tree:
        return tree[name]
    for value in tree.values():
        if isinstance(value, dict):
            found = find(value, name, None)
            if found is not None:
                return found
    return otherwise


def shown(command):
    """A call as it is written about: the levels of the quantiles are many."""
    words = command.split()
    if "--quantiles" in words:
        place = words.index("--quantiles") + 1
        words[place] = ",".join(words[place].split(",")[:2]) + ",..,0.983333"
    return " ".join(words)


def distribution(table):
    """Means and quantiles of a table of predictions."""
    names = [name for name in table.columns if name.startswith("q") and is_number(name[1:])]
    names.sort(key=lambda name: float(name[1:]))
    if len(names) != len(LEVELS):
        raise StroockFailed(f"{len(names)} columns of quantiles instead of {len(LEVELS)}")
    return Predictions(table["mean"].to_numpy(float), table[names].to_numpy(float))


def is_number(text):
    """Whether a text is a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True
