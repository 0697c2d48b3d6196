"""What people see: tables on stdout, progress and notes on stderr, or one JSON object. One file an occasion."""

from equinoise.present.terminal.audit_output import show_audit, show_losses
from equinoise.present.terminal.compare_output import show_comparison, show_costs
from equinoise.present.terminal.json_output import csv_rows, finite, print_json
from equinoise.present.terminal.optimize_output import show_demo, show_optimized, show_released
from equinoise.present.terminal.progress_line import Waiting, comparing, drawing, progress, round_in_words, working
from equinoise.present.terminal.show_output import show_mechanism
from equinoise.present.wording import METRIC_NAMES, RELEASED, SECRET, SECRET_ROWS, certified, solved

__all__ = [
    "METRIC_NAMES", "RELEASED", "SECRET", "SECRET_ROWS", "Waiting", "certified", "comparing", "csv_rows", "drawing",
    "finite", "print_json", "progress", "round_in_words", "show_audit", "show_comparison", "show_costs", "show_demo",
    "show_losses", "show_mechanism", "show_optimized", "show_released", "solved", "working",
]  # fmt: skip
