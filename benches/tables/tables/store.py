"""Measured rows in one JSON file: rivals are looked up there before they are run."""

import json

KEY = ("part", "set", "hidden", "contestant", "seed")


class Store:
    """Rows by their key. Every change is written at once, so that a stopped run loses nothing."""

    def __init__(self, file):
        self.file = file
        self.rows = {}
        self.read()

    def read(self):
        """Takes in what the file has."""
        if self.file.exists():
            self.rows |= {key(row): row for row in json.loads(self.file.read_text())["rows"]}

    def known(self, row, fingerprint):
        """The stored row of the same key, if it was made from the same data by the same version."""
        found = self.rows.get(key(row))
        return found if found is not None and found.get("fingerprint") == fingerprint else None

    def put(self, row):
        """Adds or replaces a row. Another run may have added others meanwhile."""
        self.read()
        self.rows[key(row)] = row
        self.file.parent.mkdir(parents=True, exist_ok=True)
        ordered = sorted(self.rows.values(), key=lambda row: tuple(str(part) for part in key(row)))
        text = ",\n".join("  " + json.dumps(row) for row in ordered)
        fresh = self.file.with_suffix(".json.new")
        fresh.write_text('{"rows": [\n' + text + "\n]}\n")
        fresh.replace(self.file)


def key(row):
    """What a row is about."""
    return tuple(row.get(name) for name in KEY)
