"""A pytest hook that turns skips into failures, for the tests whose needs a make target installs."""

import pytest


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    if report.skipped:
        report.outcome, report.longrepr = "failed", f"{item.nodeid} was skipped: here, a skip is a failure."
    return report
