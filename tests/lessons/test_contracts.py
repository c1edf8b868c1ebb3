from pathlib import Path

import pytest

from ethang_nb.errors import PathRefused
from ethang_nb.lessons import contracts
from ethang_nb.providers.offline.passages import split, together
from ethang_nb.store.search import rank
from ethang_nb.tokens.registry import counter

QUESTION = "which order is affected and what its cap is"
NOTEBOOKS = Path(__file__).parents[2] / "notebooks"


@pytest.fixture(scope="module")
def texts():
    return contracts.texts()


def coverage(text):
    """Per mille of the question's words that the best sentence, or neighbours together, hold; and those sentences."""
    sentences = split(enumerate(text.split("\n"), 1), "")
    found = [*sentences, *together(sentences)]
    ranked = rank([passage.words for passage in found], QUESTION, limit=len(found))
    best = max(one.coverage for one in ranked)
    return best, [found[one.index] for one in ranked if one.coverage == best]


def test_thirty_files_are_named_in_order(texts):
    assert [f"contract_{number:02}.txt" for number in range(1, 31)] == list(texts)


def test_are_the_same_every_time(texts):
    assert texts == contracts.texts()


def test_the_notebooks_have_what_the_generator_writes(texts, tmp_path):
    written = contracts.write(tmp_path / "contracts")
    kept = NOTEBOOKS / "data" / "contracts"
    assert sorted(path.name for path in written) == sorted(path.name for path in kept.iterdir())
    assert [path.read_bytes() for path in written] == [(kept / path.name).read_bytes() for path in written]


def test_each_is_short_enough_for_one_page_of_a_small_window(texts):
    count = counter("reader").count
    assert [] == [name for name, text in texts.items() if not 390 <= count(text) <= 480]
    assert [] == [name for name, text in texts.items() if not 25 <= text.count("\n") <= 35]


def test_exactly_one_answers_and_in_one_sentence(texts):
    answering = {
        name: found for name, text in texts.items() for best, found in [coverage(text)] if best == 1000
    }
    assert ["contract_03.txt"] == list(answering)
    single = [passage for passage in answering["contract_03.txt"] if passage.pieces == 1]
    assert 1 == len(single)


def test_the_others_speak_of_orders_and_caps_too(texts):
    """Else the search would be no search."""
    others = [text.lower() for name, text in texts.items() if name != "contract_03.txt"]
    assert all("order" in text for text in others)
    assert sum("cap of" in text or "the cap is" in text for text in others) >= 10
    assert sum("affected" in text for text in others) >= 10


def test_order_and_cap_stand_nowhere_else(texts):
    for fact in ("PO-7719", "48,250"):
        assert ["contract_03.txt"] == [name for name, text in texts.items() if fact in text]


def test_no_two_contracts_are_alike(texts):
    heads = [text.split("\n", 1)[0] for text in texts.values()]
    assert 30 == len(set(heads))


def test_a_folder_that_cannot_be_written_is_refused_in_one_line(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(PathRefused, match=r"cannot be written: .*; name another folder"):
        contracts.write(tmp_path / "file" / "contracts")
