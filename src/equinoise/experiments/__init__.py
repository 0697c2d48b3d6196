"""The paper's experiments, done again on public data that comes inside wheels: ``equinoise reproduce``.

From the outside in: ``reproduce`` works through the ``parts`` of a plan, each a piece of work that is stored when it is
done; ``games`` and ``regression`` are the work, on ``datasets``; ``tables``, ``pictures``, ``findings`` and ``goals``
say what came out of it, beside ``paper_results``; ``report`` puts it in order and ``page`` writes it down.
"""
