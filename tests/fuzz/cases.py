"""Turn a format, a seed and a number into a mutated sample: the same one every time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random

from fuzz import byte_mutations, text_mutations
from fuzz.repairs import REPAIRS
from fuzz.sample import Sample, is_text

WHOLE_FILES = 0.01  # of the cases remove, empty or exchange a whole file
FOLDER = None  # stands for a folder in place of a file


@dataclass(frozen=True)
class Case:
    """A sample and the contents that replace some of its files; None is a folder in place of a file."""

    sample: Sample
    place: int  # of the sample among those of its format
    changes: Mapping[str, bytes | None]


def make_case(format_: str, samples: Sequence[Sample], seed: int, number: int) -> Case:
    """Return the case with this number; a number below that of the samples stands for an unchanged one."""
    if number < len(samples):
        return Case(samples[number], number, {})
    random = Random(f"{format_}/{seed}/{number}")
    place = random.randrange(len(samples))
    sample, other = samples[place], random.choice(samples)
    name = random.choice(sample.mutated)
    data = sample.files[name]
    if random.random() < WHOLE_FILES:
        another = sample.files[random.choice(list(sample.files))]
        return Case(sample, place, {name: random.choice((b"", another, FOLDER))})
    spare = other.files[random.choice(other.mutated)]
    mutate = text_mutations.mutate if is_text(name) else byte_mutations.mutate
    return Case(sample, place, {name: REPAIRS[sample.repair](mutate(random, data, spare))})
