"""The values of placeholders in a pasted text, and whether its wording is an older one."""

import re

from .catalogue import Wording
from .matching import Match
from .words import HOLE

LONGEST = 400  # characters of the longest text that is taken for a value
BARE = " \t\n,;.:\"'`"


def values(match: Match) -> dict[str, str]:
    """The value of each placeholder, by name, if the words next to it are in the text."""
    result: dict[str, str] = {}
    wording, fixed, text = match.template.wording.text, match.template.words, match.text
    for (i, j), (next_i, next_j) in zip(match.pairs, match.pairs[1:]):
        if next_j == j + 1 and match.words[i].end < match.words[next_i].start:
            literal = wording[fixed[j].end : fixed[next_j].start]
            result |= _between(literal, text[match.words[i].end : match.words[next_i].start])
    if match.pairs:
        (first, j), (last, k) = match.pairs[0], match.pairs[-1]
        if j == 0:
            before = text[: match.words[first].start].rsplit("\n", 1)[-1][-LONGEST:]
            result |= _at_end(wording[: fixed[0].start], before)
        if k == len(fixed) - 1:
            after = text[match.words[last].end :].split("\n", 1)[0][:LONGEST]
            result |= _at_start(wording[fixed[k].end :], after)
    return {name: value for name, value in result.items() if value}


def _between(literal: str, text: str) -> dict[str, str]:
    """The values in a text that corresponds to `literal`, part of a wording between two words."""
    if len(text) > LONGEST:
        return {}
    match = re.fullmatch(_pattern(literal, "(.*?)"), text, re.DOTALL)
    names = HOLE.findall(literal)
    if match is not None:
        return _named(names, match.groups())
    return _named(names, (text.strip(BARE + "[]()"),)) if len(names) == 1 else {}


def _at_end(literal: str, text: str) -> dict[str, str]:
    """The values before the first word of a wording, at the end of the text that precedes it."""
    match = re.search(_pattern(literal, r"([^\s'\"]+)") + r"\Z", text)
    return _named(HOLE.findall(literal), match.groups()) if match else {}


def _at_start(literal: str, text: str) -> dict[str, str]:
    """The values after the last word of a wording: the text up to the characters that end the
    wording, or else one word or one bracket.
    """
    one = r"(torch\.Size\([^)]*\)|\[[^\]]*\]|[^\s'\"`]+)"
    result = re.match(_pattern(literal, "(.+?)"), text) if literal[-1:] not in "}." else None
    result = result or re.match(_pattern(literal.rstrip("])'."), one), text)
    return _named(HOLE.findall(literal), result.groups()) if result else {}


def _pattern(literal: str, value: str) -> str:
    """A part of a wording as a regular expression."""
    parts = HOLE.split(literal)[::2]
    return value.join(re.escape(part).replace(r"\ ", r"\s+") for part in parts)


def _named(names: list[str], texts: tuple[str, ...]) -> dict[str, str]:
    return {name: _one_line(text) for name, text in zip(names, texts)}


def _one_line(text: str) -> str:
    text = re.sub(r"\s+", " ", text).strip(BARE)
    return text.removeprefix("which is ")


def old_wording(match: Match) -> Wording | None:
    """The older wording that shares more words with the text than the current one, or None."""
    message = match.template.message
    if message is None or not match.pairs:
        return None
    first, last = (match.words[match.pairs[k][0]] for k in (0, -1))
    span = _raw(match.text[first.start : last.end])
    today = _raw(message.text)
    best: tuple[int, Wording | None] = (0, None)
    for wording in message.wordings:
        old = _raw(wording.text)
        evidence = len((old - today) & span) - len((today - old) & span)
        if wording.before and evidence > best[0]:
            best = evidence, wording
    return best[1]


def _raw(text: str) -> set[str]:
    return set(re.findall(r"[a-z_']+", HOLE.sub("", text).lower()))
