import pytest

from ethang_nb.errors import Missing
from ethang_nb.lessons import modules


def test_gives_the_source_of_every_module():
    texts = modules.texts()
    assert [f"{name}.py" for name in modules.NAMES] == list(texts)
    assert all(len(text) > 1_000 for text in texts.values())


def test_exactly_one_answers_the_question():
    holding = [name for name, text in modules.texts().items() if "No closing quotation" in text]
    assert ["shlex.py"] == holding


def test_says_what_is_missing_where_python_came_without_sources(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(Missing, match="without the source of bisect, colorsys"):
        modules.texts()
