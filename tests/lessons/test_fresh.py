import os
from pathlib import Path

import ethang_nb as eth
from ethang_nb.lessons.fresh import fresh_record


def test_a_lesson_begins_with_an_empty_record(tmp_path, monkeypatch):
    monkeypatch.setenv("ETHANG_HOME", str(tmp_path / "mine"))
    first = eth.Session("reader", name="lesson", root=tmp_path)
    first.run("Read nothing.")
    fresh_record()
    assert first.closed
    assert () == eth.sessions()
    with eth.Session("reader", name="lesson", root=tmp_path) as again:
        assert 1 == again.run("Read nothing.").steps


def test_what_was_recorded_before_stays(tmp_path, monkeypatch):
    monkeypatch.setenv("ETHANG_HOME", str(tmp_path / "mine"))
    with eth.Session("reader", name="lesson", root=tmp_path) as session:
        session.run("Read nothing.")
    fresh_record()
    lesson = os.environ["ETHANG_HOME"]
    monkeypatch.setenv("ETHANG_HOME", str(tmp_path / "mine"))
    assert ["lesson"] == [row.name for row in eth.sessions()]
    assert Path(lesson) != tmp_path / "mine"


def test_the_folder_of_the_lesson_before_goes(monkeypatch, tmp_path):
    monkeypatch.setenv("ETHANG_HOME", str(tmp_path))
    fresh_record()
    before = Path(os.environ["ETHANG_HOME"])
    fresh_record()
    assert not before.exists()
