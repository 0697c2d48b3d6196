"""What can be certified, drawn from and saved: the mechanisms of both promises.

Importing any module of this folder defines both kinds, so that :meth:`Mechanism.open` knows them.
"""

from equinoise.mechanisms.base import Mechanism
from equinoise.mechanisms.per_instance import PerInstance
from equinoise.mechanisms.private_table import PrivateTable

__all__ = ["Mechanism", "PerInstance", "PrivateTable"]
