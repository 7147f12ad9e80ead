"""The results as one row a work, for the README and the book.

Called as `python -m peers.summary FILE...`: writes the table of `results.json` between the markers of each file.
"""

import json
import sys
from pathlib import Path

from .report import number

HERE = Path(__file__).resolve().parents[1]
MARKERS = ("<!-- peers table -->", "<!-- end of the peers table -->")
# The forms of PyTorch, under the names that they have for the path and for everything else.
COLUMNS = {
    "plain": ("torch-listing", "torch-plain"),
    "tuned": ("torch-bmm", "torch-tuned"),
    "best": ("torch-action", "torch-best"),
}
OTHERS = ("stroock-torch", "jax-jit", "torchsde", "torchdiffeq", "diffrax")


def table(results):
    """The rows as Markdown."""
    machine = results["machine"]
    lines = [
        f"{machine['processor']}, {machine['cores']} cores, {machine['threads']} threads for everyone, "
        f"PyTorch {machine['packages']['torch']}; medians in ms, and how many times stroock's:",
        "",
        "| work | stroock | PyTorch, plain | tuned | best | others |",
        "|---|---:|---:|---:|---:|---|",
    ]
    for work in results["works"]:
        found = work["contestants"]
        ours = found["stroock"]["median_ms"]

        def cell(name):
            median = found[name].get("median_ms")
            return f"{number(median)} ({number(median / ours)}×)" if median else "failed"

        cells = [
            next((cell(name) for name in names if name in found), "") for names in COLUMNS.values()
        ]
        others = ", ".join(f"{name} {cell(name)}" for name in OTHERS if name in found)
        lines.append(f"| {work['about']} | {number(ours)} | {' | '.join(cells)} | {others} |")
    return lines


def insert(lines, file):
    """Writes lines between the markers of a file."""
    text = file.read_text()
    before, _, rest = text.partition(MARKERS[0])
    _, end, after = rest.partition(MARKERS[1])
    if not end:
        sys.exit(f"{file} has no place for the table: `{MARKERS[0]}` and `{MARKERS[1]}`")
    file.write_text("\n".join([before + MARKERS[0], *lines, MARKERS[1]]) + after)


def main():
    results = json.loads((HERE / "results.json").read_text())
    for name in sys.argv[1:]:
        insert(table(results), Path(name))


if __name__ == "__main__":
    main()
