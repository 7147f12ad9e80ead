"""Classes of series."""
