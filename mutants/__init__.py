"""Planted bugs: one-line changes of what a promise depends on, each with the tests that should notice it.

The lists are data, ``mutants/*.toml``: files, and for each its mutants.

    [[file]]
    path = "src/equinoise/privacy/loss.py"
    tests = ["tests/game/test_condition.py"]     # files, or single tests as pytest names them

    [[file.mutant]]
    name = "margin with the other sign"          # of this mutant alone
    line = 'MARGIN = 2.0**-40'                   # a whole line, there once (``within`` a function, if said)
    becomes = 'MARGIN = -(2.0**-40)'
    tests = ["tests/..."]                        # in the place of the file's
    harmless = "..."                             # why no test notices

``compiled = true`` says of a file that numba compiles it, and keeps what it compiled from other mutants.

``python -m mutants`` tries them all on copies of the project, ``--tenth`` a tenth of them, chosen by the commit,
``--check`` only looks whether every line and test that is named is there, ``--only WORDS`` takes those with the words
in their name or path.
"""
