"""OpenDP's AIM and MST as they are: `make test-aim` installs what they need, and a skip is a failure."""

from tests.helpers.fail_on_skip import pytest_runtest_makereport  # noqa: F401
