"""Results as Markdown and JSON."""

import json


def number(value):
    """A number with about three digits, thousands apart."""
    if value is None:
        return ""
    if value >= 100:
        return f"{value:,.0f}".replace(",", " ")
    return f"{value:.3g}" if value < 10 else f"{value:.1f}"


def markdown(results):
    """The tables."""
    machine = results["machine"]
    packages = ", ".join(f"{name} {version}" for name, version in machine["packages"].items())
    lines = [
        "# Side by side",
        "",
        f"{machine['processor']}, {machine['cores']} cores, {machine['system']}; {machine['threads']} threads for "
        f"everyone; {machine['date']}; load {machine['load']} at the start.",
        f"stroock {machine['stroock']}, Python {machine['python']}, {packages}.",
        "",
        f"Medians over all repeats of alternating rounds ({results['rounds']}, {results['seconds_per_round']:g} s or "
        "one repeat each); the ratio is the contestant's median over stroock's.",
        *otherwise(results["works"]),
        "",
    ]
    if results["works"]:
        lines += times(results["works"])
    return "\n".join(lines + agreement(results["agreement"])) + "\n"


def times(works):
    """Medians, spreads, memory and ratios."""
    lines = [
        "| work | contestant | median ms | 80 % between | repeats | peak memory MB | ratio |",
        "|---|---|---:|---:|---:|---:|---:|",
    ]
    for work in works:
        ours = work["contestants"]["stroock"].get("median_ms")
        for name, found in work["contestants"].items():
            label = work["about"] if name == "stroock" else ""
            if "median_ms" not in found:
                lines.append(f"| {label} | {name} | failed: {found['failure']} | | | | |")
                continue
            ratio = f"{number(found['median_ms'] / ours)}" if ours else ""
            spread = f"{number(found['low_ms'])} .. {number(found['high_ms'])}"
            lines.append(
                f"| {label} | {name} | {number(found['median_ms'])} | {spread} | {found['repeats']} "
                f"| {number(found['peak_memory_mb'])} | {ratio} |"
            )
    return [*lines, "", *samples(works)]


def samples(works):
    """Inference in samples a second."""
    for work in works:
        if "samples" in work:
            rates = [
                f"{name} {number(1e3 * work['samples'] / found['median_ms'])}"
                for name, found in work["contestants"].items()
                if "median_ms" in found
            ]
            return ["Posterior samples a second: " + ", ".join(rates) + ".", ""]
    return []


def agreement(found):
    """How far contestants are from stroock's numbers."""
    lines = [
        "## Agreement",
        "",
        "Largest difference from stroock in the same parameters, inputs and noise, relative to the largest entry of "
        "the tensor, over all states, parts of the loss and gradients of all parameters.",
        "",
        "| work | contestant | largest difference | in |",
        "|---|---|---:|---|",
    ]
    for row in found:
        lines.append(f"| {row['work']} | {row['contestant']} | {row['error']:.1e} | `{row['tensor']}` |")
    return lines


def circumstances(results):
    """What can differ between rows of one machine."""
    date, load = (results["machine"][key] for key in ("date", "load"))
    return f"{date}, load {load} at the start, {results['rounds']} rounds of {results['seconds_per_round']:g} s"


def otherwise(works):
    """Which rows were measured in another run."""
    runs = {}
    for work in works:
        if "measured" in work:
            runs.setdefault(work["measured"], []).append(work["name"])
    return [f"Of another run ({run}): {', '.join(names)}." for run, names in runs.items()]


def merged(earlier, results, works):
    """Results with the rows of earlier ones for all works that they lack, in the order of the works."""
    if earlier is None:
        return results
    of_earlier = [{"measured": circumstances(earlier), **row} for row in earlier["works"]]
    rows = {row["name"]: row for row in of_earlier + results["works"]}
    new = {(row["work"], row["contestant"]) for row in results["agreement"]}
    kept = [row for row in earlier["agreement"] if (row["work"], row["contestant"]) not in new]
    names = ["golden values", *(work.name for work in works)]
    agreements = sorted(kept + results["agreement"], key=lambda row: names.index(row["work"]))
    return {**results, "agreement": agreements, "works": [rows[name] for name in names if name in rows]}


def read(folder):
    """The results in a folder, if there are any."""
    file = folder / "results.json"
    return json.loads(file.read_text()) if file.exists() else None


def write(results, folder):
    """Writes results.md and results.json."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "results.md").write_text(markdown(results))
    (folder / "results.json").write_text(json.dumps(results, indent=1) + "\n")
