"""What people see: tables on stdout, progress and notes on stderr, or one JSON object."""

from equinoise.present.terminal.answer_output import show_answers
from equinoise.present.terminal.audit_output import show_audit
from equinoise.present.terminal.compare_output import show_comparison
from equinoise.present.terminal.json_and_csv import csv_rows, finite, json_rows, print_json
from equinoise.present.terminal.losses_output import show_losses
from equinoise.present.terminal.mechanism_output import show_costs, show_mechanism, show_released
from equinoise.present.terminal.plan_output import show_plan
from equinoise.present.terminal.progress_line import (
    TimeLeft,
    comparison_progress,
    draw_progress,
    note,
    progress,
    round_in_words,
    task_progress,
)
from equinoise.present.terminal.verb_output import show_demo, show_optimized, show_synthesized
from equinoise.present.wording import RELEASED, SECRET_ROWS

__all__ = [
    "RELEASED", "SECRET_ROWS", "TimeLeft", "comparison_progress", "csv_rows", "draw_progress", "finite", "json_rows",
    "note",
    "print_json", "progress", "round_in_words", "show_answers", "show_audit", "show_comparison", "show_costs",
    "show_demo", "show_losses", "show_mechanism", "show_optimized", "show_plan", "show_released", "show_synthesized",
    "task_progress",
]  # fmt: skip
