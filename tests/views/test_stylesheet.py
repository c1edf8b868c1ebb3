"""The style sheet is small, our own, and loads nothing."""

import re

import pytest

from ethang_nb.views.limits import STYLE_BYTES
from ethang_nb.views.stylesheet import for_output, for_page, output
from tests.views.reading import Reading


def test_an_outputs_sheet_is_small():
    assert len(for_output().encode()) <= STYLE_BYTES


@pytest.mark.parametrize("sheet", [for_output, for_page])
def test_every_class_of_ours_has_our_prefix(sheet):
    hosts = {"vscode-dark", "vscode-light", "vscode-high-contrast", "vscode-high-contrast-light"}
    selectors = re.sub(r"\{[^{}]*\}|url\([^)]*\)", " ", sheet())
    classes = set(re.findall(r"\.([a-zA-Z][\w-]*)", selectors)) - hosts
    assert {name for name in classes if not name.startswith("eth-")} == set()


@pytest.mark.parametrize("sheet", [for_output, for_page])
def test_a_sheet_loads_nothing_from_elsewhere(sheet):
    assert "@import" not in sheet()
    assert all(target.startswith("data:") for target in re.findall(r'url\("([^"]*)', sheet()))


@pytest.mark.parametrize("sheet", [for_output, for_page])
def test_a_sheet_is_whole(sheet):
    assert sheet().count("{") == sheet().count("}")


@pytest.mark.parametrize(
    "marker",
    ["[data-jp-theme-light=false]", ".vscode-dark", "html[theme=dark]", "[data-jp-theme-light=true]"],
)
def test_light_and_dark_follow_the_host(marker):
    assert marker in for_output()


def test_host_colours_come_first():
    assert "--ink:var(--jp-ui-font-color1,light-dark(" in for_output()


def test_a_rule_applies_to_something_drawn():
    """No class is drawn without being prefixed, and none of the sheet's outputs needs a script."""
    read = Reading(output("x", label="y"))
    assert read.tags == ["div", "style"]
    assert not read.faults
