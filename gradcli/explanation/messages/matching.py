"""Recognition of a message in a text, by the best alignment.

The words of a text are aligned with those of every wording, in order, at the least cost: an equal
word scores by its rarity among all messages, an extra or missing word costs part of its weight, and
words in place of a {placeholder} cost little. Text and wording may both be cut at either end.
Messages outside the catalogue are candidates, too: a text that is closer to one of them is no
match.
"""

import ast
import re
import warnings
from collections import Counter
from functools import cache
from math import log
from typing import NamedTuple

from .catalogue import Message, Wording, messages, others
from .words import HOLE, Word, clean, words

COMMON_WORDS = """
a an and are as at be been but by can do does error expected for from get given got has have how i
if in is it its like line more my no not of on one only or other see should so some that the them
then there this to two use used using want was we what when which while why will with would you your
"""
COMMON = frozenset(COMMON_WORDS.split())
COMMON_WEIGHT, NUMBER_WEIGHT, UNKNOWN_WEIGHT = 0.6, 0.3, 2.5
# factors of the weight of a missing and of an extra word; cost of a word in a placeholder
MISSED, ADDED, FILLED = 0.5, 0.5, 0.02
# largest cost of the words in a placeholder; factor of the weight of extra words in a numeric one
MOST_FILLED, NOT_A_NUMBER = 1.0, 1.5
END, MOST_AT_END = 0.7, 4.0  # cost of words cut off at an end of a wording where the text goes on
MISSPELT = 0.85  # factor of the weight of a misspelt word
# (score, coverage) pairs: a match that reaches one of them is no coincidence
ENOUGH = ((5.0, 0.75), (8.0, 0.45), (12.0, 0.0))
LEAST_EXCERPT, FEWEST = 6.0, 3  # least score and word count of an excerpt of a message
LONGER = 2  # difference in length of two words that still count as equal in an exact match
SHORTEST = 4  # words of a message that is recognised if complete, even if they are common
NUMBERS = {"n", "m", "i", "j", "k", "d", "v", "v0"}  # placeholders for one number each
# smallest density of a match; see _density
DENSEST = 0.6
WHOLE = 0.95  # coverage from which a message counts as complete
NEARLY_BEST, MOST_ALSO = 0.97, 2  # rivals: least fraction of the best score; their number
NEAR = 80  # number of preceding pairs to which an alignment may connect a pair
CANDIDATES = 12  # wordings that are aligned with a text
CONTEXT, MOST_EXCERPT = 40, 2000  # characters of a text that are compared exactly
LONGEST = 1500  # words of a text that are considered
MOST_LETTERS, MOST_PARTS = 50_000, 20  # of a log, only so many last characters and errors count
LONGEST_PROGRAM = 500_000  # characters; a longer text is a log
RAISED = re.compile(r"(?<![A-Za-z_.])[A-Za-z_.]*(Error|Exception|Warning)\b[\"'`\])]*\s*[:(\n]\s*")

COMMENT = re.compile(r"#[# ]*(.*)")
# A message of this form contains only a type and a name: both must be equal.
OF_TYPE = "object has no attribute"


class Template(NamedTuple):
    """A wording as words. `holes[k]` counts the placeholders before word k, whose names are
    `names`; `sums[k]` is the total weight of the words before it, and `places` has the positions of
    each word. `message` is None for a message outside the catalogue.
    """

    message: Message | None
    wording: Wording
    words: list[Word]
    holes: list[int]
    names: list[str]
    sums: list[float]
    places: dict[str, list[int]]


class Match(NamedTuple):
    """An alignment: `pairs` are the positions of equal words in the text and in the wording."""

    template: Template
    score: float
    coverage: float
    pairs: list[tuple[int, int]]
    words: list[Word]
    text: str


# ---- the catalogue as words ----------------------------------------------------------------------


@cache
def _weights() -> dict[str, float]:
    """The weight of each word: the rarer among all messages, the larger."""
    texts = [[m.text, *(w.text for w in m.wordings)] for m in messages()]
    texts += [[text] for text in others()]
    counts = Counter(word for entry in texts for word in {w.text for t in entry for w in _fixed(t)})
    return {word: _weight(word, log((len(texts) + 1) / n)) for word, n in counts.items()}


def _weight(word: str, rarity: float) -> float:
    if word[0].isdigit():
        return NUMBER_WEIGHT
    if "\u3400" <= word[0] <= "\u9fff":
        return min(rarity, 2.0)
    return COMMON_WEIGHT if word in COMMON or len(word) == 1 else min(rarity, 5.0)


def _fixed(text: str) -> list[Word]:
    """The words of a wording that are not placeholders."""
    return words(HOLE.sub(lambda hole: "\x00" * len(hole[0]), text))


@cache
def templates() -> tuple[Template, ...]:
    """Every wording of every message, and the messages outside the catalogue."""
    ours = [(m, w) for m in messages() for w in (Wording(m.text), *m.wordings)]
    foreign = [(None, Wording(text)) for text in others()]
    return tuple(_template(message, wording) for message, wording in (*ours, *foreign))


def _template(message: Message | None, wording: Wording) -> Template:
    fixed, weights = _fixed(wording.text), _weights()
    starts = [hole.start() for hole in HOLE.finditer(wording.text)]
    sums = [0.0]
    places: dict[str, list[int]] = {}
    for k, word in enumerate(fixed):
        sums.append(sums[-1] + weights[word.text])
        places.setdefault(word.text, []).append(k)
    holes = [sum(start < word.start for start in starts) for word in fixed] + [len(starts)]
    return Template(message, wording, fixed, holes, HOLE.findall(wording.text), sums, places)


# ---- a text --------------------------------------------------------------------------------------


def match(text: str) -> Match | None:
    """The best alignment of a text, or of a part of it, with a wording of the catalogue.

    Returns None if no wording fits, or if one of a message outside the catalogue fits better. In a
    traceback, the last error is tried first, then earlier ones, then warnings. A program is not a
    message, but its comments may contain one.
    """
    if len(text) <= LONGEST_PROGRAM and _is_python(text):
        text = _commented(text)
    cleaned = clean(text[-MOST_LETTERS:])
    for part in _parts(cleaned):
        result = best(part)
        if result is not None and confident(result):
            return result
    return None


def _is_python(text: str) -> bool:
    """Whether a text is a program with more than comments and string literals."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            body = ast.parse(text).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return any(not isinstance(getattr(s, "value", None), ast.Constant) for s in body)


def _commented(program: str) -> str:
    """The comments of a program, starting with the first that names an error."""
    lines = COMMENT.findall(program)
    first = next((k for k, line in enumerate(lines) if RAISED.search(line)), len(lines))
    return "\n".join(lines[first:])


def _parts(text: str) -> list[str]:
    """Candidate parts of a text: those after names of errors, the last one first."""
    heads = list(RAISED.finditer(text))[-MOST_PARTS:]
    ends = [head.start() for head in heads[1:]] + [len(text)]
    parts = [(head[1] != "Warning", text[head.end() : end]) for head, end in zip(heads, ends)]
    parts = [p for p in parts if p[1].strip()]
    ordered = [t for error, t in reversed(parts) if error] + [
        t for e, t in reversed(parts) if not e
    ]
    return [*ordered, text]


def best(text: str) -> Match | None:
    """The best match of `text` with a wording; None if nothing matches, or if the best match is a
    message outside the catalogue.
    """
    spellings = _spellings(words(text)[-LONGEST:])
    if not spellings:
        return None
    matches = [_aligned(t, spellings, text) for t in _candidates(spellings)]
    result = max(filter(confident, matches), key=_sort_key, default=None)
    return None if result is None or result.template.message is None else result


def rivals(result: Match) -> list[Message]:
    """Other messages that fit the text nearly as well, because the text is incomplete."""
    if result.coverage > WHOLE:
        return []
    spellings = _spellings(words(result.text)[-LONGEST:])
    near = (_aligned(t, spellings, result.text) for t in _candidates(spellings))
    least = NEARLY_BEST * result.score
    possible = [m.template.message for m in near if m.score >= least and confident(m)]
    by_text = {m.text: m for m in (result.template.message, *possible) if m is not None}
    return list(by_text.values())[1 : MOST_ALSO + 1]


def _sort_key(match: Match) -> tuple[float, bool, int, int, float]:
    """A sort key: by score, then messages outside the catalogue, then exact matches."""
    wording, foreign = match.template.wording.text, match.template.message is None
    result = pattern(wording).search(_excerpt(match))
    letters = len(HOLE.sub("", wording)) if result else 0
    return round(match.score, 6), foreign, letters, _same_case(match), match.coverage


def _excerpt(match: Match) -> str:
    """The part of a text that matches a wording, with some context."""
    first, last = match.words[match.pairs[0][0]].start, match.words[match.pairs[-1][0]].end
    return match.text[max(first - CONTEXT, 0) : min(last, first + MOST_EXCERPT) + CONTEXT]


def _same_case(match: Match) -> int:
    """The number of equal words whose first letters have the same case."""
    text, wording = match.text, match.template.wording.text
    pairs = ((match.words[i].start, match.template.words[j].start) for i, j in match.pairs)
    return sum(text[a] == wording[b] for a, b in pairs)


def confident(match: Match) -> bool:
    """Whether a match is no coincidence: many words are equal, or most of a short message."""
    message, wording = match.template.message, match.template.wording.text
    exact = message and (message.elsewhere or OF_TYPE in wording)
    if exact and not _complete(match):
        return False
    if _density(match) < DENSEST:
        return False
    whole = match.coverage > WHOLE and len(match.pairs) >= SHORTEST
    if whole or (match.score >= LEAST_EXCERPT and _is_excerpt(match)):
        return True
    return any(match.score >= s and match.coverage >= part for s, part in ENOUGH)


def _is_excerpt(match: Match) -> bool:
    """Whether the whole text is a contiguous part of the wording."""
    (first, _), (last, _) = match.pairs[0], match.pairs[-1]
    holes = match.template.holes
    if len(match.pairs) < FEWEST:
        return False
    return (first, last) == (0, len(match.words) - 1) and all(
        next_j == j + 1 and (next_i == i + 1 or holes[next_j] > holes[j])
        for (i, j), (next_i, next_j) in zip(match.pairs, match.pairs[1:])
    )


def _density(match: Match) -> float:
    """The fraction, by weight, of a wording's words that the text has, counted between the first
    and the last of these.
    """
    template = match.template
    if not match.pairs:
        return 0.0
    first, last = match.pairs[0][1], match.pairs[-1][1]
    weights = _weights()
    equal = sum(weights[template.words[j].text] for _, j in match.pairs)
    return equal / (template.sums[last + 1] - template.sums[first])


def _complete(match: Match) -> bool:
    """Whether the text has every word of the wording, each of about the same length. Words at the
    start of the wording may be missing if the text begins with a later one.
    """
    if not match.pairs:
        return False
    lengths = (
        (match.words[i].end - match.words[i].start, word.end - word.start)
        for i, word in ((i, match.template.words[j]) for i, j in match.pairs)
    )
    first_i, first_j = match.pairs[0]
    missing = len(match.template.words) - len(match.pairs) - (first_j if first_i == 0 else 0)
    return missing == 0 and all(abs(a - b) <= LONGER for a, b in lengths)


@cache
def pattern(wording: str) -> re.Pattern[str]:
    """A wording as a regular expression: a group for each placeholder, by its number."""
    parts = [re.escape(part) for part in HOLE.split(wording.rstrip(". "))[::2]]
    text = "(.*?)".join(re.sub(r"(?:\\\s)+", r"\\s+", part) for part in parts)
    return re.compile(text + ("$" if wording.endswith("}") else ""), re.IGNORECASE | re.DOTALL)


class Spelling(NamedTuple):
    """A word of a text. `text` is the word of the catalogue that it stands for, `sure` is 1 if the
    two are equal and MISSPELT otherwise, `weight` is the weight of `text`.
    """

    word: Word
    text: str
    sure: float
    weight: float


def _spellings(text: list[Word]) -> list[Spelling]:
    """The words of a text with their spellings and weights in the catalogue."""
    weights, result = _weights(), []
    for word in text:
        if word.text in weights:
            result.append(Spelling(word, word.text, 1.0, weights[word.text]))
            continue
        parts = _spelt(word.text)
        for part in parts:
            result.append(Spelling(word, part, MISSPELT, weights[part]))
        if not parts:
            weight = NUMBER_WEIGHT if word.text[0].isdigit() else UNKNOWN_WEIGHT
            weight = COMMON_WEIGHT if word.text in COMMON else weight
            result.append(Spelling(word, word.text, 0.0, weight))
    return result


@cache
def _spelt(word: str) -> tuple[str, ...]:
    """The word or words of the catalogue closest to a misspelt one; () if none is close."""
    weights = _weights()
    parts = tuple(part for part in word.split("_") if part)
    if len(parts) > 1 and all(part in weights for part in parts):
        return parts
    for cut in range(3, len(word) - 2):
        if word[:cut] in weights and word[cut:] in weights:
            return word[:cut], word[cut:]
    if len(word) < 4:
        return ()
    allowed = 1 if len(word) < 8 else 2
    near = (w for w in weights if len(w) > 4 and abs(len(w) - len(word)) <= allowed)
    near = (w for w in near if w[0] == word[0] or w[-3:] == word[-3:])
    nearest = min(((_distance(word, w, allowed), w) for w in near), default=(allowed + 1, ""))
    return (nearest[1],) if nearest[0] <= allowed else ()


def _distance(a: str, b: str, most: int) -> int:
    """The edit distance with transpositions; most + 1 if it is larger than `most`."""
    before, row = [0] * (len(b) + 1), list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        last, before, row = before, row, [i]
        for j, y in enumerate(b, 1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (x != y))
            if i > 1 and j > 1 and x == b[j - 2] and a[i - 2] == y:
                cost = min(cost, last[j - 2] + 1)
            row.append(cost)
        if min(row) > most:
            return most + 1
    return row[-1]


def _candidates(text: list[Spelling]) -> list[Template]:
    """The wordings that share most words with a text, in any order."""
    present = {k.text: k.weight * k.sure for k in text}
    shared = [
        (sum(present[w] for w in t.places if w in present), -len(t.words), n)
        for n, t in enumerate(templates())
    ]
    return [templates()[n] for total, _, n in sorted(shared, reverse=True)[:CANDIDATES] if total]


# ---- alignment -----------------------------------------------------------------------------------


def _chains(
    template: Template,
    text: list[Spelling],
    source: str,
    pairs: list[tuple[int, int]],
    sums: list[float],
) -> tuple[list[float], list[int]]:
    """For each pair of equal words, the score of the best chain that ends with it, and the number
    of the pair before it in this chain, -1 for the first one.
    """
    scores: list[float] = []
    back: list[int] = []
    for n, (i, j) in enumerate(pairs):
        gain = text[i].weight * text[i].sure
        score, origin = gain - _cost_before(template, j, _continues_line(text, i, source)), -1
        for k in range(n - 1, max(-1, n - NEAR), -1):
            before_i, before_j = pairs[k]
            if before_i < i and before_j < j:
                chained = scores[k] + gain - _gap(template, sums, pairs[k], (i, j))
                if chained > score:
                    score, origin = chained, k
        scores.append(score)
        back.append(origin)
    return scores, back


def _aligned(template: Template, text: list[Spelling], source: str) -> Match:
    """The best alignment of a text with a wording: pairs of equal words, in the order of both."""
    sums = [0.0]
    for spelling in text:
        sums.append(sums[-1] + spelling.weight)
    pairs = [(i, j) for i, k in enumerate(text) for j in template.places.get(k.text, ())]
    if not pairs:
        return Match(template, 0.0, 0.0, [], [], source)
    scores, back = _chains(template, text, source, pairs, sums)
    finals = [s - _cost_after(template, j, text, i, source) for s, (i, j) in zip(scores, pairs)]
    last = max(range(len(pairs)), key=lambda n: finals[n])
    score, chain = finals[last], []
    while last >= 0:
        chain.append(pairs[last])
        last = back[last]
    coverage = score / template.sums[-1] if template.sums[-1] else 0.0
    return Match(template, score, coverage, chain[::-1], [k.word for k in text], source)


def _gap(
    template: Template, sums: list[float], before: tuple[int, int], after: tuple[int, int]
) -> float:
    """The cost of the words between two pairs of equal words."""
    (i, j), (next_i, next_j) = before, after
    missed = template.sums[next_j] - template.sums[j + 1]
    holes = template.names[template.holes[j] : template.holes[next_j]]
    if not holes:
        return MISSED * missed + ADDED * (sums[next_i] - sums[i + 1])
    if NUMBERS.issuperset(holes):
        i = min(i + len(holes), next_i - 1)
        return MISSED * missed + NOT_A_NUMBER * (sums[next_i] - sums[i + 1])
    return MISSED * missed + min(FILLED * (next_i - i - 1), MOST_FILLED)


def _continues_line(text: list[Spelling], i: int, source: str) -> bool:
    """Whether word i is preceded by another one in its line."""
    return i > 0 and "\n" not in source[text[i - 1].word.end : text[i].word.start]


def _cost_before(template: Template, j: int, goes_on: bool) -> float:
    """The cost of beginning at word j of a wording. `goes_on`: words precede it in the line."""
    return min(END * template.sums[j], MOST_AT_END) if goes_on else 0.0


def _cost_after(template: Template, j: int, text: list[Spelling], i: int, source: str) -> float:
    """The cost of an alignment that ends at word j of a wording and word i of a text; 0 if word i
    is the last one of its line.
    """
    if i + 1 >= len(text) or "\n" in source[text[i].word.end : text[i + 1].word.start]:
        return 0.0
    return min(END * (template.sums[-1] - template.sums[j + 1]), MOST_AT_END)
