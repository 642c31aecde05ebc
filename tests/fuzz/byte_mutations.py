"""Change the bytes of a file: bits, bytes, integers and whole blocks."""

from __future__ import annotations

import struct
from collections.abc import Callable
from random import Random

BYTES = (0, 1, 0x0A, 0x1B, 0x20, 0x2D, 0x30, 0x39, 0x7F, 0x80, 0xFE, 0xFF)
_LIMITS = (7, 8, 15, 16, 24, 30, 31, 32, 62, 63, 64)
NUMBERS = (0, 1, 2, 3, 5, 0x7F000000, *(2**bits + step for bits in _LIMITS for step in (-1, 0, 1)))
FLOATS = (0.0, -0.0, 1.0, -1.0, 1e-45, 1e-300, 1e39, 1e300, float("inf"), float("-inf"), float("nan"))
MOST_AT_ONCE = 4

Mutation = Callable[[Random, bytearray, bytes], None]


def mutate(random: Random, data: bytes, other: bytes) -> bytes:
    """Return `data` with one or a few changes; some of them take bytes from `other`."""
    changed = bytearray(data)
    for _ in range(random.choice((1, 1, 1, 2, 2, MOST_AT_ONCE))):
        if not changed:
            break
        random.choice(_MUTATIONS)(random, changed, other)
    return bytes(changed)


def _flip_bit(random: Random, data: bytearray, other: bytes) -> None:
    data[random.randrange(len(data))] ^= 1 << random.randrange(8)


def _set_byte(random: Random, data: bytearray, other: bytes) -> None:
    data[random.randrange(len(data))] = random.choice(BYTES)


def _set_any_byte(random: Random, data: bytearray, other: bytes) -> None:
    data[random.randrange(len(data))] = random.randrange(256)


def _set_number(random: Random, data: bytearray, other: bytes) -> None:
    """Overwrite an integer of 2, 4 or 8 bytes, of either byte order, or a float."""
    size = random.choice((2, 4, 4, 8))
    order = random.choice("<>")
    if size > 2 and random.random() < 0.15:
        value, kind = random.choice(FLOATS), {4: "f", 8: "d"}[size]
        if size == 4 and abs(value) > 3e38:
            value = float("inf")
        content = struct.pack(order + kind, value)
    else:
        number = random.choice(NUMBERS) % 2 ** (8 * size)
        content = number.to_bytes(size, "little" if order == "<" else "big")
    start = random.randrange(max(1, len(data) - size + 1))
    data[start : start + size] = content


def _step_number(random: Random, data: bytearray, other: bytes) -> None:
    """Add a little to an integer, which is how sizes and offsets become slightly wrong."""
    size = random.choice((1, 2, 4))
    start = random.randrange(max(1, len(data) - size + 1))
    order = random.choice(("little", "big"))
    value = int.from_bytes(data[start : start + size], order) + random.randint(-16, 16)  # type: ignore[arg-type]
    data[start : start + size] = (value % 2 ** (8 * size)).to_bytes(size, order)  # type: ignore[arg-type]


def _truncate(random: Random, data: bytearray, other: bytes) -> None:
    del data[random.randrange(len(data)) :]


def _delete(random: Random, data: bytearray, other: bytes) -> None:
    start, size = _block(random, data)
    del data[start : start + size]


def _repeat(random: Random, data: bytearray, other: bytes) -> None:
    start, size = _block(random, data)
    data[start:start] = data[start : start + size] * random.choice((1, 1, 2, 8))


def _insert(random: Random, data: bytearray, other: bytes) -> None:
    start, size = _block(random, data)
    data[start:start] = bytes([random.choice(BYTES)]) * size


def _fill(random: Random, data: bytearray, other: bytes) -> None:
    start, size = _block(random, data)
    data[start : start + size] = bytes([random.choice(BYTES)]) * size


def _splice(random: Random, data: bytearray, other: bytes) -> None:
    """Replace the end, or a block, by bytes of another sample."""
    start, size = _block(random, data)
    if random.random() < 0.5:
        data[start:] = other[start:]
    elif other:
        there = random.randrange(len(other))
        data[start : start + size] = other[there : there + size]


def _block(random: Random, data: bytearray) -> tuple[int, int]:
    start = random.randrange(len(data))
    return start, random.randint(1, min(random.choice((4, 16, 256)), len(data) - start))


_MUTATIONS: tuple[Mutation, ...] = (
    *(_flip_bit, _flip_bit, _set_byte, _set_any_byte, _set_number, _set_number, _set_number, _step_number),
    *(_truncate, _delete, _repeat, _insert, _fill, _splice),
)
