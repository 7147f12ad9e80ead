"""The last part of series."""
