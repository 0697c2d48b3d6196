"""What a public page leaves out, and why that is all: everything else is a function of public settings."""

from __future__ import annotations

from equinoise.mechanisms.base import Mechanism

WHY = (
    "Nothing on this page was worked out from the data: it would be the same, letter by letter, for any other data "
    "that a mechanism with these settings was made from. That such a mechanism could be made at all does depend on the "
    "data, as any release from it does."
)


def omissions(mechanism: Mechanism) -> list[str]:
    """What is left out, in words; which of them depends on settings that are public alone."""
    game = bool(mechanism.noise)
    settings = mechanism.settings
    words = [
        "the number of people, and in how many cells they are",
        "the original and the released distribution, and the Laplace mechanism's of the same data",
        "the noise of the people in each cell, and which scales are in use"
        if game
        else "what the rule changes in each cell",
        "everyone's losses, and who is hardest to protect",
        "what draws cost single people: only what is promised is shown",
        "all distances from the original, KL against epsilon among them",
    ]
    if game:
        words.append("how the solver went and ended, round by round, and how long it took")
    if game and mechanism.budget is not None:
        words.append("the loss that one draw alone may have, which was worked out from the data")
    if settings.get("scales") == "adaptive":
        words.append("the scales that were words, which were worked out from the data")
    if not settings.get("public_bounds"):
        words.append("the bounds and the grid, which were read off the data")
    if mechanism.base is not None:
        words.append("the base distribution that was given")
    if settings.get("unit") is not None:
        words.append("how many rows there are, and how many anyone has")
    return [*words, "the file's name, its digest, and what has been released from it so far"]
