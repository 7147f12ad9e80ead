"""The work of stroock in PyTorch and JAX, held against stroock's records and timed beside it."""
