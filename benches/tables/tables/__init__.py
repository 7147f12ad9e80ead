"""Stroock and its rivals on other people's tables."""
