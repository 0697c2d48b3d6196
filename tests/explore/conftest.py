import pytest

from tests.helpers.explore_server import Visitor, running_server


@pytest.fixture(scope="module")
def explorer(tmp_path_factory):
    """A running server of one column."""
    with running_server(tmp_path_factory.mktemp("folder")) as running:
        yield running


@pytest.fixture(scope="module")
def visitor(explorer):
    """The server's owner, who has exchanged the token for a cookie."""
    owner = Visitor(explorer)
    assert owner.enter() == 200
    return owner
