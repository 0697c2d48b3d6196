"""For tests of what a make target installs: there, a skip is a failure."""

import pytest


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    if report.skipped:
        report.outcome, report.longrepr = "failed", f"{item.nodeid} was skipped: here, a skip is a failure."
    return report
