"""What is said below a table of answers: in a few short lines, or in full."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from equinoise.analysis.answers.answer import CLIPPED, NOTHING, PEOPLE, Answer
from equinoise.analysis.answers.ask import COUNTS_NOTE, Answers
from equinoise.formatting import format_number, join_and

MOSTLY = {
    "noise": "comes from the noise: more people or a larger epsilon would help",
    "people": "comes from the sampling of people: more people would help",
    "bins": "comes from the bins: finer bins would help",
}
"""What the width of an interval comes from, and what would make it narrower."""

SHORT_PARTS = {PEOPLE: "the sampling of people"}
SHORT_NOTES = {COUNTS_NOTE: "Of one release, use these answers: they know their noise, its rows do not."}
ON_TERMINAL, IN_PYTHON = "In full: --verbose.", "In full: to_json()."
"""Where all of it is."""

BOUNDS = "Values outside the bounds count as the bounds."

MOST_NAMED = 4
"""Questions that are named where intervals contain different things."""


def short_notes(answers: Answers, in_full: str) -> list[str]:
    """Some four lines: what the intervals contain, where their width mostly comes from, whom they are of, and
    the note; ``in_full`` says where all of it is."""
    clipped = any(part.startswith(CLIPPED) for answer in answers for part in answer.contains)
    lines = [
        [*_hidden(answers), *_short_contents(answers), on_its_own(answers)],
        _widths(answers),
        [BOUNDS * clipped, answers.of_whom],
        [SHORT_NOTES.get(answers.note, answers.note), in_full],
    ]
    return [line for line in (" ".join(filter(None, parts)) for parts in lines) if line]


def full_notes(answers: Answers) -> list[str]:
    """Sentences: what all intervals contain, what those of some questions do, whom they are of, and the note."""
    questions: dict[str, list[str]] = {}
    clipped: dict[str, None] = {}
    for answer in answers:
        for part in answer.contains:
            if part.startswith(CLIPPED):
                clipped[f"{part[0].upper()}{part[1:]}, in the answer as in its interval."] = None
            else:
                questions.setdefault(part, []).append(_named(answer) if part == NOTHING else answer.question)
    every = [part for part, names in questions.items() if len(names) == len(answers)]
    found = [f"The intervals contain {'; '.join(every)}."] if every else []
    for part, names in questions.items():
        if part not in every:
            found.append(f"Those of {_some(names)} {'also contain' if every else 'contain'} {part}.")
    own = [on_its_own(answers)] if answers else []
    return [*found, *own, *clipped, *_widths(answers), *filter(None, [answers.of_whom, answers.note])]


def on_its_own(answers: Answers) -> str:
    """That a level is of one interval, not of all together."""
    if not answers:
        return ""
    return f"{'Each' if len(answers) > 1 else 'It'} is {level_text(answers[0].level)} on its own."


def level_text(level: float) -> str:
    """A level in percent."""
    return f"{format_number(100 * level)} %"


def _hidden(answers: Sequence[Answer]) -> list[str]:
    """A sentence on the answers that the noise hides, if there are any."""
    names = [_named(answer) for answer in answers if NOTHING in answer.contains]
    whose = "every answer" if len(names) == len(answers) > 1 else f"the answer to {_some(names)}"
    return [f"The noise hides {whose}: the interval is no narrower than the bounds."] if names else []


def _short_contents(answers: Sequence[Answer]) -> list[str]:
    """A sentence on what the intervals contain that the noise does not hide."""
    told = [answer for answer in answers if NOTHING not in answer.contains]
    questions: dict[str, list[str]] = {}
    for answer in told:
        for part in dict.fromkeys(_short_part(part) for part in answer.contains if not part.startswith(CLIPPED)):
            questions.setdefault(part, []).append(answer.question)
    by_names: dict[tuple[str, ...], list[str]] = {}
    for part, names in questions.items():
        by_names.setdefault(tuple(names), []).append(part)
    whole = by_names.pop(tuple(answer.question for answer in told), [])
    one = len(answers) == 1
    subject = "The interval" if one else "The intervals" if len(told) == len(answers) else "The others"
    found = [f"{subject} contain{'s' * one} {join_and(whole)}"] if whole else []
    for asked, parts in by_names.items():
        several = len(set(asked)) > 1
        verb = "also" if whole else f"contain{'s' * (not several)}"
        found.append(f"{'those' if several else 'that'} of {_some(asked)} {verb} {join_and(parts)}")
    text = "; ".join(found)
    return [f"{text[0].upper()}{text[1:]}."] if text else []


def _short_part(part: str) -> str:
    """What an interval contains, without what is taken of people within bins."""
    return "the width of the bins" if part.startswith("the bins (") else SHORT_PARTS.get(part, part)


def _widths(answers: Sequence[Answer]) -> list[str]:
    """Sentences: where the width of intervals mostly comes from, as far as that is known."""
    found = []
    for part, words in MOSTLY.items():
        names = [_named(answer) for answer in answers if answer.mostly == part]
        if names:
            all_of_them = len(answers) > 1 and len(names) == len(answers)
            whose = "all intervals" if all_of_them else f"the interval{'s' * (len(names) > 1)} of {_some(names)}"
            found.append(f"Most of the width of {whose} {words}.")
    return found


def _some(names: Iterable[str]) -> str:
    """Some of the questions, each once, and how many more there are."""
    each = list(dict.fromkeys(names))
    more = f" and {len(each) - MOST_NAMED:,} more" if len(each) > MOST_NAMED else ""
    return f"{', '.join(each[:MOST_NAMED])}{more}"


def _named(answer: Answer) -> str:
    """The question of an answer, with its group."""
    return answer.question if answer.group is None else f"{answer.question} ({answer.group})"
