"""What people see: tables on stdout, progress and notes on stderr, or one JSON object. One file an occasion."""

from equinoise.terminal.audited import show_audit, show_losses
from equinoise.terminal.compared import show_comparison, show_costs
from equinoise.terminal.content import show_mechanism
from equinoise.terminal.made import show_demo, show_optimized, show_released
from equinoise.terminal.output import csv_rows, finite, print_json
from equinoise.terminal.waiting import Waiting, comparing, drawing, progress, round_in_words, working
from equinoise.terminal.words import METRIC_NAMES, RELEASED, SECRET, SECRET_ROWS, certified, solved

__all__ = [
    "METRIC_NAMES", "RELEASED", "SECRET", "SECRET_ROWS", "Waiting", "certified", "comparing", "csv_rows", "drawing",
    "finite", "print_json", "progress", "round_in_words", "show_audit", "show_comparison", "show_costs", "show_demo",
    "show_losses", "show_mechanism", "show_optimized", "show_released", "solved", "working",
]  # fmt: skip
