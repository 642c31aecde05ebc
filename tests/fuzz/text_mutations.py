"""Change texts word by word, and JSON also value by value."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from random import Random
from typing import Any

from fuzz import byte_mutations

WORDS = (
    *("0", "-0", "-1", "1e-320", "1e39", "1e308", "1e400", "-1e400", "nan", "NaN", "inf", "Infinity", "-Infinity"),
    *("2147483648", "4294967296", "9223372036854775808", "9" * 30, "9" * 5000, "1_000", "0x10", "1.", ".5", "٣"),
    *("true", "null", "[]", "{}", '""', "''", "[[0]]", "=", "#", ";", "[", "]", "{", "}", '"', "\\", "\n", "\r", "\0"),
    *("\x1b[31m", "\x9b2J", "\u202e", "\ufeff", "\ud800", "é", "../../etc/passwd", "/dev/zero", "x" * 300, "%s%n", "."),
)
ODD_VALUES: tuple[Any, ...] = (
    *(
        None,
        True,
        False,
        0,
        -1,
        1,
        2,
        0.5,
        1e-320,
        1e39,
        1e308,
        -1e308,
        float("nan"),
        float("inf"),
        2**31,
        2**64,
        10**400,
    ),
    *("", " ", "x", "1", "nan", "x" * 300, "\x1b[31mred", "\n", "\0", "\ud800", "../up", "/etc/passwd", "<script>"),
    *([], [None], [[]], [1, 2, 3], {}, {"": 0}, {"format": 1}, [0.0] * 50),
)
DEEP = 2000  # levels of nesting; more than Python's parser allows
_TOKEN = re.compile(r"[-+]?[0-9.][0-9.eE+-]*|\w+|[^\w\s]|\s+")


def mutate(random: Random, data: bytes, other: bytes) -> bytes:
    """Return a text with one or a few changes; a part of the cases changes bytes instead."""
    chance = random.random()
    if chance < 0.15:
        return byte_mutations.mutate(random, data, other)
    if chance < 0.6 and data[:1] in (b"{", b"["):
        with suppress(ValueError, RecursionError):  # what is no JSON, or nested too deeply, is mutated as a text
            return _mutated_json(random, json.loads(data))
    tokens = _TOKEN.findall(data.decode("utf-8", "replace"))
    for _ in range(random.choice((1, 1, 1, 2, 3))):
        _change_token(random, tokens)
    return "".join(tokens).encode("utf-8", "surrogatepass")


def _change_token(random: Random, tokens: list[str]) -> None:
    if not tokens:
        return
    k = random.randrange(len(tokens))
    numbers = [j for j, token in enumerate(tokens) if token[-1].isdigit()]
    if numbers and random.random() < 0.5:
        k = random.choice(numbers)
    kind = random.randrange(6)
    if kind <= 1:
        tokens[k] = random.choice(WORDS)
    elif kind == 2:
        del tokens[k : k + random.choice((1, 1, 2, 5, 20))]
    elif kind == 3:
        tokens[k:k] = tokens[k : k + random.choice((1, 2, 5, 20))]
    elif kind == 4:
        j = random.randrange(len(tokens))
        tokens[k], tokens[j] = tokens[j], tokens[k]
    else:
        tokens.insert(k, random.choice(WORDS))


def _mutated_json(random: Random, value: Any) -> bytes:
    for _ in range(random.choice((1, 1, 1, 2, 3))):
        value = _changed(random, value)
    if random.random() < 0.01:
        return b"[" * DEEP + json.dumps(value).encode() + b"]" * DEEP
    return json.dumps(value, ensure_ascii=random.random() < 0.5).encode("utf-8", "surrogatepass")


def _changed(random: Random, value: Any) -> Any:
    """Return a value in which one node, at any depth, is replaced, removed, renamed, repeated or nested."""
    if not isinstance(value, (dict, list)) or not value or random.random() < 0.15:
        return random.choice(ODD_VALUES) if random.random() < 0.8 else [value]
    keys = list(value) if isinstance(value, dict) else list(range(len(value)))
    key = random.choice(keys)
    copied: Any = value.copy()
    chance = random.random()
    if chance < 0.65:
        copied[key] = _changed(random, value[key])
    elif chance < 0.8:
        del copied[key]
    elif isinstance(copied, list):
        copied.insert(key, copied[key])
    else:
        copied[str(random.choice(ODD_VALUES))] = copied.pop(key) if chance < 0.9 else copied[key]
    return copied
