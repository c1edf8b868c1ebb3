"""The snapshot as data in a stored output: small, cut with counts, the same every time."""

import json

import nbformat
import pytest

from ethang_nb.views import run, stored
from ethang_nb.views.limits import DATA_BYTES, DATA_LEAST, OUTPUT_BYTES, PREVIEW
from tests.views import samples

LISTS = ("segments", "timeline", "diffs", "pins", "notices")


def texts(data):
    if isinstance(data, str):
        yield data
    elif isinstance(data, dict):
        for value in data.values():
            yield from texts(value)
    elif isinstance(data, list):
        for item in data:
            yield from texts(item)


def test_a_small_snapshot_is_stored_whole():
    found = stored.document(samples.empty())
    assert {} == found["left_out"]
    assert samples.empty().to_json()["budget"] == found["budget"]


@pytest.mark.parametrize("make", [samples.contracts, samples.large, samples.over, samples.hostile])
def test_what_is_left_out_is_counted(make):
    whole, found = make().to_json(), stored.document(make())
    assert stored.size(found) <= DATA_BYTES
    for name in LISTS:
        assert len(whole[name]) == len(found[name]) + found["left_out"].get(name, 0)
    positions = [item["position"] for item in found["segments"]]
    assert sorted(positions) == positions


def test_a_list_keeps_its_beginning_and_its_end():
    found = stored.document(samples.large())["segments"]
    assert (0, 9_999) == (found[0]["position"], found[-1]["position"])


def test_no_text_is_longer_than_a_preview_and_none_hides_anything():
    long = samples.hostile_run("\u202e" * 300_000).snapshot
    found = list(texts(stored.document(long)))
    assert PREVIEW == max(map(len, found))
    assert not [text for text in found if "\u202e" in text]


def test_the_same_snapshot_gives_the_same_data():
    assert json.dumps(stored.document(samples.contracts())) == json.dumps(
        stored.document(samples.contracts())
    )


@pytest.mark.parametrize("char", ["a", "<", "契", "\ud800", "a "])
def test_a_run_of_anything_is_one_small_output(char):
    ended = samples.hostile_run(char * 300_000)
    data = run.data(ended)
    taken = sum(map(stored.size, data.values()))
    assert len(run.html(ended).encode()) + len(run.text(ended).encode()) + taken <= OUTPUT_BYTES


def test_a_run_holds_its_document():
    data = run.data(samples.run())
    assert [stored.MIME] == list(data)
    assert "contracts" == data[stored.MIME]["name"]


def test_size_is_what_a_notebook_file_takes():
    data = stored.document(samples.contracts())
    notebook = nbformat.v4.new_notebook(
        cells=[
            nbformat.v4.new_code_cell(outputs=[nbformat.v4.new_output("display_data", {stored.MIME: data})])
        ]
    )
    nbformat.validate(notebook)
    without = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell(outputs=[nbformat.v4.new_output("display_data", {stored.MIME: {}})])]
    )
    taken = len(nbformat.writes(notebook).encode()) - len(nbformat.writes(without).encode())
    assert abs(taken - stored.size(data)) < 100


def test_a_live_view_stores_whose_it_is():
    assert {"version": 1, "live": "a\\u202eb"} == stored.live("a\u202eb")


@pytest.mark.parametrize("room", [DATA_LEAST, DATA_BYTES])
def test_the_last_cleanup_stays_while_other_rows_can_give_way(room):
    whole, found = samples.contracts(), stored.document(samples.contracts(), room)
    assert whole.diffs[-1].step == found["diffs"][-1]["step"]
    assert found["diffs"][-1]["left"] and found["segments"] and found["timeline"]


def test_no_room_is_no_endless_loop():
    assert 0 == sum(len(stored.document(samples.contracts(), 0)[name]) for name in LISTS)
