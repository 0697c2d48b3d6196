"""What a saved file says before its mechanism is there, and what nothing but the file itself tells."""

import base64
import stat
import zlib
from itertools import pairwise

import numpy as np
import polars as pl
import pytest

import equinoise
from equinoise import BadInput
from equinoise.mechanisms import counts_table, saved_file
from equinoise.mechanisms.ledger import Release, parse
from equinoise.mechanisms.saved_file import charged, digest_of, pack_digest, read, write


def test_what_is_paid_for_is_told_by_a_file_of_its_owner_alone_while_it_is_made(tmp_path):
    path = tmp_path / "m.eq"
    with charged(path, "epsilon 1 for noisy counts", force=False):
        assert path.read_text() == f"equinoise {saved_file.FORMAT} charged\nepsilon 1 for noisy counts\n"
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        with pytest.raises(BadInput, match="paid for which is not there"):
            read(path)
    assert path.exists()


@pytest.mark.parametrize("error", [ValueError("no"), KeyboardInterrupt()])
@pytest.mark.parametrize("before", [None, b"what was there"])
def test_if_making_it_fails_all_is_as_before(tmp_path, error, before):
    path = tmp_path / "m.eq"
    if before is not None:
        path.write_bytes(before)

    def fail():
        with charged(path, "epsilon 1", force=before is not None):
            assert b"charged" in path.read_bytes()
            raise error

    with pytest.raises(type(error)):
        fail()
    assert (path.read_bytes() if path.exists() else None) == before


def test_the_digest_is_of_document_and_weights_and_a_file_has_an_identity_of_its_own(tmp_path):
    weights = np.array([[1, 2], [3, 4]])
    digests = {digest_of("a", b"bc"), digest_of("ab", b"c"), digest_of("a", b"bd"), digest_of("b", b"bc")}
    assert len(digests) == 4
    release = Release("2026-01-01T00:00:00+00:00", 3)
    places = [write(tmp_path / name, "{}", weights, (release,), force=False) for name in ("1.eq", "2.eq")]
    assert len({place.identity for place in places}) == 2
    for place in places:
        heading, document, packed, *releases = place.path.read_text().split("\n")
        assert heading.split() == ["equinoise", str(saved_file.FORMAT), pack_digest("{}", weights), place.identity]
        assert zlib.decompress(base64.b64decode(packed)) == weights.astype("<i8").tobytes()
        assert parse("\n".join(releases), f"{heading.split()[2]} {place.identity}") == (release,)
        assert place.start == len("\n".join([heading, document, packed, ""]))
        assert stat.S_IMODE(place.path.stat().st_mode) == 0o600
    assert all(one.path != other.path for one, other in pairwise(places))


def test_only_free_files_are_replaced(tmp_path, monkeypatch):
    locked = []
    monkeypatch.setattr(saved_file, "free", lambda path: locked.append(path) or saved_file.nullcontext())
    for force in (False, True):
        write(tmp_path / "m.eq", "{}", np.zeros((0, 0), dtype=np.int64), (), force=force)
    assert locked == [tmp_path / "m.eq"]


def test_what_is_paid_for_stands_in_its_file_before_any_noise_is_drawn(tmp_path, monkeypatch):
    path, seen, draw = tmp_path / "m.eq", [], counts_table.noisy_counts
    monkeypatch.setattr(counts_table, "noisy_counts", lambda *given: seen.append(path.read_text()) or draw(*given))
    people = pl.DataFrame({"age": [20, 30, 30]})
    equinoise.synthesize(people, column="age", bounds=(0, 100), bins=4, epsilon=1, rows=3, method="pay-once", save=path)
    assert [said.split("\n")[0] for said in seen] == [f"equinoise {saved_file.FORMAT} charged"]
    assert "epsilon 1 for the noisy counts" in seen[0]
    assert equinoise.Mechanism.open(path).promise.epsilon == 1
