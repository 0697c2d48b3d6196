"""Here, a skip is a failure: what is tried was installed for it. Releases are noted in a folder of the tests' own."""

import os

import pytest

from tests.helpers.fail_on_skip import pytest_runtest_makereport  # noqa: F401


@pytest.fixture(scope="session", autouse=True)
def _own_state_folder(tmp_path_factory):
    os.environ["EQUINOISE_STATE"] = str(tmp_path_factory.mktemp("state"))
