"""Records that stroock writes: named tensors and settings of one computation."""

import json

import torch
from safetensors import safe_open


class Record:
    """Tensors by name, and settings as JSON."""

    def __init__(self, path):
        with safe_open(path, framework="pt") as file:
            self.metadata = file.metadata()
            self.tensors = {name: file.get_tensor(name) for name in file.keys()}

    def __getitem__(self, name):
        return self.tensors[name]

    def __contains__(self, name):
        return name in self.tensors

    def get(self, name):
        """A tensor, or None."""
        return self.tensors.get(name)

    def setting(self, key):
        """A setting, from JSON."""
        return json.loads(self.metadata[key])

    def parameter(self, name):
        """A parameter of the model."""
        return self.tensors["parameter." + name]

    def gradient(self, name):
        """The gradient of a parameter; zeros where there is none."""
        found = self.tensors.get("gradient." + name)
        return torch.zeros_like(self.parameter(name)) if found is None else found
