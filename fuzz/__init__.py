"""Odd tables, damaged files, kills and hostile requests, at random: what comes of each is a result or a refusal.

    python -m fuzz                                 every suite within its seconds; writes docs/reliability.md
    python -m fuzz tables --seed 7 --seconds 60    one suite, other cases
    python -m fuzz tables --seed 7 --case 123      one case again, as a report of what was lost names it

A suite is a module with ``begin``: a context that gives a function from a random source to what became of its case.
All that a case does by chance comes from that source, which seed, suite and number make; only draws and moments of
kills are the system's. A case that raises anything is lost, and so is one that does not end in time.
"""
