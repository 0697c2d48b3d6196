"""The game: where people come out, when they are protected, what closeness is, and the payoff."""
