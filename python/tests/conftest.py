"""What the tests share."""

import warnings

import pytest


def pytest_configure(config):
    config.addinivalue_line("markers", "slow: takes minutes")


@pytest.fixture(autouse=True)
def plain_warnings():
    """Sentences that a model says as warnings are no failures."""
    with warnings.catch_warnings():
        yield
