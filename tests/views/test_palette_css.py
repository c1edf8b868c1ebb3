"""The live views have the colours and letters of the static ones."""

from ethang_nb.views.palette import INKS, SWATCHES
from tests.views.palette_css import FILE, sheet


def test_the_live_views_have_the_colours_of_palette_py():
    """Where this fails: `python -m tests.views.palette_css`."""
    assert FILE.read_text(encoding="utf-8") == sheet()


def test_every_ink_and_slice_is_in_it():
    found = sheet()
    assert all(f"--{ink.name}:" in found for ink in INKS)
    assert all(f".e-c-{item.slug} {{" in found and f'--l: "{item.letter}"' in found for item in SWATCHES)


def test_a_slice_is_classed_by_the_last_word_of_its_name():
    """`slice` in labextension/src/views/parts/Swatch.tsx relies on it."""
    assert [item.name.split()[-1] for item in SWATCHES] == [item.slug for item in SWATCHES]
