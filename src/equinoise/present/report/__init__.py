"""One page about one mechanism, for the custodian and for a privacy officer; and a variant that anyone may see."""

from equinoise.present.report.write import check_report, write_report

__all__ = ["check_report", "write_report"]
