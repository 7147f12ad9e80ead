"""Where data are, and what tells them apart."""

import hashlib
import os
from pathlib import Path

import numpy as np


def shared(root):
    """The folder of the public data sets that ship in no package: `data` of STROOCK_SHARED."""
    return Path(os.environ.get("STROOCK_SHARED", root.parent / "shared")) / "data"


def fingerprint(*parts):
    """A short digest of arrays and texts."""
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part.encode() if isinstance(part, str) else np.ascontiguousarray(part).tobytes())
    return digest.hexdigest()[:16]


def code(*modules):
    """The text of modules: results of other code are not known."""
    return "".join(Path(module.__file__).read_text() for module in modules)
