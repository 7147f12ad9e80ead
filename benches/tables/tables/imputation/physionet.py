"""The stays of PhysioNet 2012, sets a and b, as the publisher lays them out."""

import tarfile

import numpy as np
import pandas as pd

DESCRIPTORS = ("Age", "Gender", "Height", "ICUType")
# Whether a stay is ventilated is 1 wherever it is given: there is nothing to be found out.
CONSTANT = ("MechVent",)


def read(folder):
    """A row for every value: id, minute, variable, value. The last one counts where a variable has two at one time."""
    ids, minutes, names, values = [], [], [], []
    for archive in ("set-a.tar.gz", "set-b.tar.gz"):
        with tarfile.open(folder / "physionet2012" / archive) as tar:
            for member in tar:
                if not member.name.endswith(".txt"):
                    continue
                stay = member.name.rsplit("/", 1)[-1].removesuffix(".txt")
                for line in tar.extractfile(member).read().decode().splitlines()[1:]:
                    time, name, value = line.split(",")
                    if name in ("", "RecordID") or (value == "-1" and time == "00:00"):
                        continue
                    ids.append(int(stay))
                    minutes.append(60 * int(time[:2]) + int(time[3:]))
                    names.append(name)
                    values.append(float(value))
    table = pd.DataFrame({"id": ids, "minute": np.array(minutes), "variable": names, "value": values})
    return table.drop_duplicates(["id", "minute", "variable"], keep="last")


def variables(table):
    """Those that are measured and vary, without the descriptors of the patient."""
    return sorted(set(table["variable"]) - set(DESCRIPTORS) - set(CONSTANT))


def raw(folder):
    """Every value at its minute, with the descriptors at the first one; a column for each variable."""
    table = read(folder)
    wide = table.pivot(index=["id", "minute"], columns="variable", values="value").reset_index()
    wide.insert(1, "hour", wide.pop("minute") / 60)
    return wide.rename_axis(columns=None), variables(table)


def hourly(folder):
    """Means of the hours of every stay in which anything was measured, without the descriptors."""
    table = read(folder)
    names = variables(table)
    table = table[~table["variable"].isin(DESCRIPTORS)]
    hour = (table["minute"] // 60).clip(upper=47).rename("hour")
    wide = table.groupby(["id", hour, "variable"])["value"].mean().unstack().reset_index()
    return wide.rename_axis(columns=None), names
