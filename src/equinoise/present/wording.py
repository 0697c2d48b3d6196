"""Sentences and names that several commands, reports and charts share."""

from __future__ import annotations

from equinoise.formatting import at_most
from equinoise.game.utility import label
from equinoise.mechanisms.base import Mechanism
from equinoise.mechanisms.private_table import PrivateTable

SECRET = "All of this but drawn rows is worked out from the raw data and is as secret as the data."


RELEASED = "Only rows are released. Nothing else here depends on the data; the saved file is as secret as the data."


SECRET_ROWS = "The file holds the data and more: it is as secret as the data. Never release it."


METRIC_NAMES = {
    "kl": "KL divergence (nats)",
    "js": "Jensen-Shannon divergence (nats)",
    "tv": "total variation",
    "sd_loss": "change of standard deviation",
    "pmf_sd_loss": "change of SD of the probabilities",
    "jaccard": "Jaccard index (above 0.001)",
    "cosine": "cosine similarity",
    "wasserstein": "Wasserstein distance",
    "tv_1way": "total variation of single columns, mean",
    "tv_2way": "total variation of two columns, mean",
    "mean_error": "error of the means (standard deviations)",
    "median_error": "error of the medians (standard deviations)",
    "largest_tv_2way": "total variation of two columns, largest",
    "kl_2way": "KL divergence of two columns, mean (nats)",
    "correlation_loss": "largest change of a correlation",
    "association_loss": "largest change of Cramer's V or a correlation ratio",
}


METHOD_SENTENCES = {
    "envelope": "envelope: a public rule of epsilon, the grid and draws; no game.",
    "pay-once": "pay-once: noisy counts of every cell, and an estimate made of them by a public rule; no game.",
    "aim": "aim: a model of all columns, made of noisy counts of one and two of them by OpenDP's AIM; no game.",
}
"""How a mechanism of differential privacy was made, by its method."""


def draws_in_words(draws: int | None) -> str:
    """How many draws may be released."""
    return "any number of draws" if draws is None else f"{draws:,} draw{'' if draws == 1 else 's'}"


def certificate_sentence(mechanism: Mechanism) -> str:
    """What was certified, in a sentence."""
    certificate = mechanism.certificate()
    if isinstance(mechanism, PrivateTable):
        if mechanism.proof:
            return (
                f"Checked in whole numbers: {mechanism.certified}. That the model is private is proven by "
                f"{mechanism.proof}; no certificate of ours checks that."
            )
        if mechanism.losses_by_theorem:
            return f"Certified in whole numbers for every dataset within the bounds: {mechanism.certified}."
        return (
            "Certified in whole numbers for every dataset within the bounds, and that the weights are those of this "
            f"one; here the worst loss is {at_most(mechanism.worst_loss)}, and half of the people are within "
            f"{at_most(mechanism.loss_quantiles()['0.5'])}."
        )
    return (
        f"Certified in {certificate.how}, in both directions, for all {certificate.groups:,} groups of "
        f"people in all {certificate.cells:,} cells, everyone else's noise fixed; worst loss "
        f"{at_most(mechanism.worst_loss)}, half of the people "
        f"within {at_most(mechanism.loss_quantiles()['0.5'])}."
    )


def solver_sentence(mechanism: Mechanism) -> str:
    """How the mechanism was found, in a sentence."""
    solver = mechanism.solver
    if solver["name"] in METHOD_SENTENCES:
        return METHOD_SENTENCES[solver["name"]]
    end = "a checked equilibrium" if solver["equilibrium"] else "no equilibrium"
    if solver["name"] == "optimal" and not solver.get("proven", True):
        why = "stopped" if solver.get("stopped") else "out of time"
        end = f"{why} with the best so far, {end}"
    if solver["name"] == "optimal":
        measure = label(mechanism.settings.get("utility", "kl"))
        among = "" if mechanism.budget is None else f" and at most {at_most(mechanism.epsilon)} a draw"
        how = f"with a {measure} that no profile of these scales{among} beats by more than {at_most(solver['gap'])}"
    elif solver["name"] == "genetic":
        how = f"after {solver['rounds']:,} generations"
    else:
        how = (
            f"after {solver['rounds']:,} round{'s' * (solver['rounds'] != 1)} in {solver['restarts']} "
            f"restart{'s' * (solver['restarts'] != 1)}"
        )
    if solver.get("tried"):
        how += f" (the {solver['tried']} solver found nothing closer within the budget)"
    return f"{solver['name']}: {end} {how}, {solver['seconds']:.2g} s."
