import subprocess
import sys

import pytest

from ethang_nb.errors import Misuse, PathRefused, Unknown
from ethang_nb.providers.registry import facts, models, provider


def test_a_model_id_names_its_provider_and_options():
    assert provider("reader").name == "reader"
    assert provider("reader?follow=no&nudge=ignore").name == "reader?follow=no&nudge=ignore"


def test_a_script_is_named_with_its_file(tmp_path):
    file = tmp_path / "turns.yaml"
    file.write_text("turns:\n  - say: hi\n")
    assert provider(f"script:{file}").name == f"script:{file}"


@pytest.mark.parametrize(
    ("model", "error", "words"),
    [
        ("reder", Unknown, "unknown model 'reder'; did you mean 'reader'?"),
        ("readr?follow=no", Unknown, "did you mean 'reader'"),
        ("gpt-9", Unknown, "known: reader, script:PATH.yaml"),
        ("", Unknown, "known: reader"),
        ("reader:x", Misuse, "options stand after"),
        ("reader?follow=maybe", Misuse, "allowed are yes, no"),
        ("reader?speed=9", Unknown, "unknown option of reader 'speed'; known: follow, nudge, usage"),
        ("script", Misuse, "names no file"),
        ("script:", Misuse, "names no file"),
        ("script:nowhere.yaml", PathRefused, "nowhere.yaml cannot be read"),
    ],
)
def test_a_bad_id_is_one_line_that_says_what_would_do(model, error, words):
    with pytest.raises(error) as caught:
        provider(model)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_stand_ins_have_a_stated_default_window():
    for model in ("reader?follow=no", "script:x.yaml"):
        known = facts(model)
        assert (known.total, known.max_output, known.source) == (8_000, 4_000, "stand-in default")
    with pytest.raises(Unknown):
        facts("gpt-9")


def test_every_model_form_is_listed():
    assert models() == ("reader", "script:PATH.yaml")


def test_naming_a_model_loads_no_other_provider():
    code = (
        "import sys; from ethang_nb.providers.registry import facts; facts('reader'); "
        "print([m for m in sys.modules if m.startswith(('ethang_nb.providers.', 'yaml', 'jsonschema', 'httpx'))])"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert out.strip() == "['ethang_nb.providers.protocol', 'ethang_nb.providers.registry']"
