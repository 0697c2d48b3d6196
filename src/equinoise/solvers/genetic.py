"""The paper's approximated enumeration: a genetic algorithm over profiles, one gene per person (PyGAD).

Fitness is the payoff, evaluated for the whole population at once on counts. There is no proof that it ends at an
equilibrium, so its end is checked like any other.
"""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from equinoise.data.grid import Floats, Ints
from equinoise.errors import BadInput, PromiseNotMet, check, is_whole
from equinoise.game import equilibrium
from equinoise.game.game import Game
from equinoise.solvers.solution import Request, Round, Solution

POPULATION, PARENTS, KEPT = 500, 10, 5
MUTATION = 0.05
GENERATIONS = 270
SETTINGS = {"generations": GENERATIONS}
SUMMARY_NUMBERS = ("generations",)
PATIENT_GENERATIONS = 50
"""Generations without a better payoff after which it stops."""

MOST_PEOPLE = 100_000
"""A gene per person: more people than this would need gigabytes."""


def supports(request: Request) -> str | None:
    """Why the genetic solver cannot do what is asked; None, as it can do all."""
    return None


class Population:
    """Payoffs of many profiles at once, each given as one scale per person."""

    def __init__(self, game: Game) -> None:
        self.game, self.choices = game, game.scales
        types = np.arange(game.players.types)
        self.pairs = len(types) * self.choices
        self.scales = np.tile(np.arange(self.choices), len(types))
        self.whose = np.repeat(types, game.players.people)
        self.weights = game.stacked_weights(np.repeat(types, self.choices), self.scales)

    def tables(self, genes: Ints) -> Ints:
        """People per (type, scale), one row a chromosome."""
        where = self.whose[None, :] * self.choices + genes + np.arange(len(genes))[:, None] * self.pairs
        return np.bincount(where.ravel(), minlength=len(genes) * self.pairs).reshape(len(genes), self.pairs)

    def payoffs(self, genes: Ints) -> Floats:
        """The game's payoff of every chromosome."""
        tables = self.tables(genes)
        sums = tables.astype(np.float64) @ self.weights
        profiles = tables.reshape(len(genes), -1, self.choices)
        return np.array([self.game.payoff(profile, s).value for profile, s in zip(profiles, sums, strict=True)])

    def genes(self, profile: Ints) -> Ints:
        """A profile as one scale per person."""
        return np.repeat(self.scales, profile.ravel())

    def profile(self, genes: Ints) -> Ints:
        """One chromosome as a profile of the game."""
        return np.asarray(self.tables(genes[None, :])[0].reshape(-1, self.choices))


def genetic(
    game: Game,
    *,
    generations: int = GENERATIONS,
    seed: int = 0,
    start: Ints | None = None,
    known: Ints | None = None,
    progress: Callable[[Round], None] | None = None,
) -> Solution:
    """The fittest profile of the last generation, with the paper's settings; a known profile is in the first."""
    check(is_whole(generations, 1, 10**6), "generations", "a whole number from 1 to 1000000", generations)
    check(is_whole(seed, 0, 2**32 - 1), "seed", "a whole number from 0 to 4294967295", seed)
    if game.people > MOST_PEOPLE:
        raise BadInput(
            f"The genetic solver keeps a gene for each person and takes at most {MOST_PEOPLE:,} people. "
            f"There are {game.people:,}: use best response or optimal."
        )
    began = time.perf_counter()
    population, random = Population(game), np.random.default_rng([seed, 1])
    first = random.integers(0, population.choices, (POPULATION, game.people))
    known = start if known is None else known
    if known is not None:
        first[0] = population.genes(game.check_profile(known))
    try:
        algorithm = _evolve(population, first, random, int(generations), int(seed), progress)
    except (Exception, SystemExit) as error:  # some versions of PyGAD exit
        raise PromiseNotMet(
            f"The genetic solver failed inside PyGAD ({type(error).__name__}: {error}). Use another solver."
        ) from error
    genes = np.asarray(algorithm.population, dtype=np.int64)
    end = population.profile(genes[int(np.argmax(population.payoffs(genes)))])
    return Solution(
        game=game,
        profile=end,
        name="genetic",
        equilibrium=equilibrium.is_equilibrium(game, end),
        rounds=int(algorithm.generations_completed),
        seconds=time.perf_counter() - began,
        least_epsilon=float(game.losses(end).max()),
        settings={"seed": int(seed), "generations": int(generations)},
    )


solve = genetic


def _evolve(
    population: Population, first: Ints, random: np.random.Generator, generations: int, seed: int, progress: Any
) -> Any:
    """PyGAD's algorithm after its run from a first generation, chromosomes x people."""
    import pygad

    best, since = -math.inf, 0

    def mutate(offspring: Ints, _: Any) -> Ints:
        chosen = random.random(offspring.shape) < MUTATION
        offspring[chosen] = random.integers(0, population.choices, int(chosen.sum()))
        return offspring

    def after(algorithm: Any) -> str | None:
        nonlocal best, since
        fitness, number = algorithm.last_generation_fitness, algorithm.generations_completed
        now = float(fitness.max())
        best, since = (now, 0) if now > best else (best, since + 1)
        if progress is not None:
            fittest = population.profile(np.asarray(algorithm.population[int(np.argmax(fitness))], dtype=np.int64))
            note = f"Generation {number}: payoff {best:.6f}"
            progress(Round(0, number, 0, fittest, note, done=number / generations))
        return "stop" if since >= PATIENT_GENERATIONS else None

    silent = logging.Logger("equinoise.genetic")  # PyGAD would print its own errors
    silent.addHandler(logging.NullHandler())
    algorithm = pygad.GA(
        num_generations=generations,
        num_parents_mating=PARENTS,
        initial_population=first,
        gene_type=int,
        fitness_func=lambda _, genes, __: population.payoffs(np.asarray(genes, dtype=np.int64)).tolist(),
        fitness_batch_size=POPULATION,
        parent_selection_type="sss",
        keep_parents=KEPT,
        keep_elitism=0,
        crossover_type="two_points",
        mutation_type=mutate,
        on_generation=after,
        random_seed=seed,
        suppress_warnings=True,
        logger=silent,
    )
    algorithm.run()
    return algorithm
