"""Colours are legible, and told apart by people who see colours differently; letters and words say the same."""

import itertools
import math

import pytest

from ethang_nb.context.budget import SLICES
from ethang_nb.views.palette import INKS, SWATCHES, swatch

# Machado, Oliveira and Fernandes (2009), severity 1.0, on linear RGB.
SIGHT = {
    "usual": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "deuteranopia": ((0.367, 0.861, -0.228), (0.280, 0.673, 0.047), (-0.012, 0.043, 0.969)),
    "protanopia": ((0.152, 1.053, -0.205), (0.115, 0.786, 0.099), (-0.004, -0.048, 1.052)),
    "tritanopia": ((1.256, -0.077, -0.179), (-0.078, 0.931, 0.148), (0.005, 0.691, 0.304)),
}
PAPER = {"light": "#ffffff", "dark": "#15191f"}


def linear(colour):
    digits = colour[1:] if len(colour) == 7 else "".join(digit * 2 for digit in colour[1:])
    parts = [int(digits[at : at + 2], 16) / 255 for at in (0, 2, 4)]
    return [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]


def contrast(one, other):
    bright, dim = sorted(
        (
            sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear(colour), strict=True))
            + 0.05
        )
        for colour in (one, other)
    )[::-1]
    return bright / dim


def lab(colour, sight):
    seen = [min(1, max(0, sum(a * b for a, b in zip(row, linear(colour), strict=True)))) for row in sight]
    to_xyz = ((0.4339, 0.3762, 0.1899), (0.2126, 0.7152, 0.0722), (0.0177, 0.1095, 0.8728))
    x, y, z = (
        (value ** (1 / 3) if value > 0.008856 else 7.787 * value + 16 / 116)
        for value in (sum(a * b for a, b in zip(row, seen, strict=True)) for row in to_xyz)
    )
    return (116 * y - 16, 500 * (x - y), 200 * (y - z))


def test_every_slice_has_its_own_letter_and_colour():
    assert tuple(item.name for item in SWATCHES) == SLICES
    assert len({item.letter for item in SWATCHES}) == len({item.slug for item in SWATCHES}) == len(SLICES)


def test_a_name_that_is_no_slice_gets_no_slice_letter():
    assert swatch("something else").letter == "?"


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("sight", list(SIGHT))
def test_any_two_slices_are_told_apart(theme, sight):
    seen = {item.name: lab(getattr(item, theme), SIGHT[sight]) for item in SWATCHES}
    nearest = min((math.dist(seen[a], seen[b]), a, b) for a, b in itertools.combinations(seen, 2))
    assert nearest[0] > 11, nearest


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_letter_is_legible_on_its_colour(theme):
    worst = min(
        (contrast(getattr(item, theme), getattr(item, f"on_{theme}")), item.name) for item in SWATCHES
    )
    assert worst[0] >= 4.5, worst


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_ink_is_legible_on_paper(theme):
    inks = [item for item in INKS if item.name != "paper"]
    worst = min((contrast(getattr(item, theme), PAPER[theme]), item.name) for item in inks)
    assert worst[0] >= 4.5, worst
