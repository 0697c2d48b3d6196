"""What is said below a table of answers."""

from equinoise.analysis.answers.answer import NOISE, NOTHING, PEOPLE, SEVERAL, Answer
from equinoise.analysis.answers.ask import Answers
from equinoise.present.answer_notes import full_notes, short_notes

BINS = "the bins ('age' is known only to bins of 3, so people count as evenly spread over theirs)"
CLIP = "values of 'age' below 18 or above 100 count as 18 or 100"


def answer(question, *contains, group=None, mostly=None):
    return Answer(question, group, 1.0, 0.0, 2.0, 0.95, contains, mostly=mostly)


def short(*each):
    return short_notes(Answers(each), "More.")


def test_what_every_interval_contains_is_a_list_and_what_some_do_comes_after_it():
    age, ward, count = (
        answer("mean of age", NOISE, PEOPLE, SEVERAL, BINS, CLIP),
        answer("share", NOISE, PEOPLE),
        "count",
    )
    assert short(age) == [
        "The interval contains the privacy noise, the sampling of people, that rows of one person go together and the "
        "width of the bins. It is 95 % on its own.",
        "Values outside the bounds count as the bounds.",
        "More.",
    ]
    assert short(age, ward, answer(count, NOISE))[0] == (
        "The intervals contain the privacy noise; those of mean of age, share also the sampling of people; that of "
        "mean of age also that rows of one person go together and the width of the bins. Each is 95 % on its own."
    )
    assert short(answer("a", NOISE), answer("b", PEOPLE))[0] == (
        "That of a contains the privacy noise; that of b contains the sampling of people. Each is 95 % on its own."
    )


def test_an_answer_that_the_noise_hides_says_so_with_its_group():
    hidden = answer("mean", NOTHING, group="ward = a")
    told = answer("mean", NOISE, PEOPLE, group="ward = b")
    assert short(hidden, told)[0] == (
        "The noise hides the answer to mean (ward = a): the interval is no narrower than the bounds. The others "
        "contain the privacy noise and the sampling of people. Each is 95 % on its own."
    )
    assert short(hidden, hidden)[0].startswith("The noise hides every answer: ")
    assert "Those of mean (ward = a) contain nothing but the bounds" in " ".join(full_notes(Answers((hidden, told))))


def test_where_the_width_comes_from_is_one_line():
    line = short(answer("a", NOISE, mostly="noise"), answer("b", NOISE, mostly="bins"), answer("c", NOISE))[1]
    assert line == (
        "Most of the width of the interval of a comes from the noise: more people or a larger epsilon would help. Most "
        "of the width of the interval of b comes from the bins: finer bins would help."
    )
    assert short(*[answer("a", NOISE, mostly="people")] * 2)[1].startswith(
        "Most of the width of all intervals comes from"
    )


def test_no_answers_have_no_words():
    assert full_notes(Answers(())) == []
    assert short() == ["More."]


def test_values_at_the_bounds_are_said_in_short_and_in_full():
    assert "Values outside the bounds count as the bounds." in short(answer("a", NOISE, CLIP), answer("b", NOISE))
    assert "Values outside" not in " ".join(short(answer("b", NOISE)))
    full = full_notes(Answers((answer("a", NOISE, CLIP),)))
    assert "Values of 'age' below 18 or above 100 count as 18 or 100, in the answer as in its interval." in full
    assert "It is 95 % on its own." in full
