"""Memory: similar training records vote on what belongs where."""

from carat.memory.memory import EXACT, LIMIT, Memory
from carat.memory.store import Records
from carat.memory.tally import LARGE, Tally
from carat.memory.vote import Ballot, Weights

__all__ = ["EXACT", "LIMIT", "LARGE", "Memory", "Records", "Ballot", "Tally", "Weights"]
