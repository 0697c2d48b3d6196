"""Forges saved mechanisms: changes what a file holds and makes its digest and links fit, as an editor by hand would."""

import base64
import json
import zlib
from pathlib import Path

import numpy as np

from equinoise.mechanisms import ledger
from equinoise.mechanisms import saved_file as storage


def read_parts(path):
    """The first line, the document, the weights in bytes, and the releases of a saved file."""
    heading, document, packed, rest = Path(path).read_text().split("\n", 3)
    return heading, document, zlib.decompress(base64.b64decode(packed)), rest


def write_parts(path, document, blob, releases=""):
    """Write a file whose digest and links fit whatever it holds."""
    identity = read_parts(path)[0].split()[3]
    digest = storage.digest_of(document, blob)
    written = [ledger.Release(at, int(draws)) for _, at, draws, _ in map(str.split, releases.splitlines())]
    packed = base64.b64encode(zlib.compress(blob)).decode()
    heading = ledger.heading(digest, identity)
    Path(path).write_text(f"{heading}{document}\n{packed}\n" + ledger.lines(f"{digest} {identity}", written))


def forge(path, change=None, **fields):
    """Change the document, by a function or field by field, and the weights, by a function of theirs."""
    _, text, blob, rest = read_parts(path)
    document = json.loads(text)
    if change is not None:
        change(document)
    if callable(fields.get("weights")):
        blob = fields.pop("weights")(np.frombuffer(blob, "<i8").copy()).tobytes()
    for name, value in fields.items():
        document[name] = {**document[name], **value} if isinstance(value, dict) else value
    write_parts(path, json.dumps(document), blob, rest)
