"""Solvers: each takes a game and gives a solution. One module each, listed in ``choices.SOLVERS``.

A solver's module declares

- ``SETTINGS``: its own settings and what they are unless asked for;
- ``SUMMARY_NUMBERS``: which numbers its solutions' settings must have, for a saved file to be a whole one;
- ``supports(request)``: why it cannot do what is asked, in a sentence; None if it can;
- ``solve(game, *, seed, start, known, progress, **SETTINGS)``: a solution. A profile ``known`` to be good is looked at
  beside others, and so is a ``start`` of the user's own, unless a solver begins there alone. ``progress`` sees rounds.

Whoever has a ``time_limit`` among its settings gets what is left of it, and ``keep_when_stopped``: whether Ctrl-C ends
the search with the best so far, or is the caller's.
"""
