"""Makes mechanisms of differential privacy from which nothing was drawn yet."""

from equinoise.data.read_players import columns_asked_for, read_players
from equinoise.mechanisms.counts_table import CountsTable
from equinoise.mechanisms.envelope_table import EnvelopeTable
from equinoise.mechanisms.private_table import check_private_grid
from equinoise.mechanisms.row_format import RowFormat
from equinoise.synthesis.choice import method_sentence
from equinoise.verbs.table_request import public_columns


def counted(data, schema=None, *, column=None, bins=None, rows_per_person=1, unit=None, **public):
    """The players of some data as ``synthesize`` counts them, and the settings that tell it."""
    asked = public_columns(columns_asked_for(schema, column, public.pop("bounds", None), unit=unit, **public))
    players, settings = read_players(
        data, asked, bins=bins, most_rows=rows_per_person, check_grid=check_private_grid, least=0
    )
    return players, {**settings, "rows_per_person": rows_per_person}


def envelope(data, schema=None, *, epsilon, draws=1, delta=0.0, base=None, rows_per_person=1, **counting):
    """An envelope for so many draws, within epsilon (and delta) together."""
    players, settings = counted(data, schema, rows_per_person=rows_per_person, **counting)
    chosen = {"method": "envelope", "plan": method_sentence("envelope"), "people": None}
    made = EnvelopeTable.make(
        players, epsilon=epsilon, rows=draws, delta=delta, base=base, rows_per_person=rows_per_person,
        settings={**settings, **chosen, "rows": draws},
    )  # fmt: skip
    return made.releasing(RowFormat.of(data).plain)


def paid_once(data, schema=None, *, epsilon, rows_per_person=1, **counting):
    """Noisy counts, paid for once."""
    players, settings = counted(data, schema, rows_per_person=rows_per_person, **counting)
    made = CountsTable.make(players, epsilon=epsilon, rows_per_person=rows_per_person, settings=settings)
    return made.releasing(RowFormat.of(data).plain)
