"""The game: players, where they come out, when they are protected, what closeness is, and the payoff."""

from equinoise.game.game import Game, Payoff
from equinoise.game.players import Players

__all__ = ["Game", "Payoff", "Players"]
