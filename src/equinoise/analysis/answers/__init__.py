"""Answers with honest intervals from a file of noisy counts: means, quantiles, counts, shares, correlations."""

from equinoise.analysis.answers.answer import Answer
from equinoise.analysis.answers.correlations import correlation
from equinoise.analysis.answers.counts import count
from equinoise.analysis.answers.means import difference, mean
from equinoise.analysis.answers.noisy_table import NoisyTable
from equinoise.analysis.answers.quantiles import quantile
from equinoise.analysis.answers.shares import share

__all__ = ["Answer", "NoisyTable", "correlation", "count", "difference", "mean", "quantile", "share"]
