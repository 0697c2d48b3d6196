"""Side-by-side measurements; nothing in the package depends on them.

``make bench`` (some twelve minutes; 3 GB of free disk) measures this against the plain algorithm, peers and the
machine's limits in one run, writes ``results.md`` with the goals on top and ``growth.md``, and fails if a goal is
missed. ``python -m benchmarks.run counting draws`` measures only the parts named; ``tests/project/test_benchmarks.py``
runs every part at a small size. ``python -m benchmarks.attack`` plays an attacker against every promise, writes
``attack.md`` and fails if one is broken: run it after a change to draws, certificates or promises.
``python -m benchmarks.answers`` asks how often intervals from noisy counts hold the truth.
"""
