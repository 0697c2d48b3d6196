"""What can be certified, drawn from and saved: the mechanisms of both promises.

Importing any module of this folder defines both kinds, so that :meth:`Mechanism.open` knows them.
"""

from equinoise.mechanisms.base import Mechanism
from equinoise.mechanisms.counts_table import CountsTable
from equinoise.mechanisms.envelope_table import EnvelopeTable
from equinoise.mechanisms.model_table import ModelTable
from equinoise.mechanisms.per_instance import PerInstance
from equinoise.mechanisms.private_table import PrivateTable

__all__ = ["CountsTable", "EnvelopeTable", "Mechanism", "ModelTable", "PerInstance", "PrivateTable"]
