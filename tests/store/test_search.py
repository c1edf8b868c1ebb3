import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ethang_nb.store.search import Ranked, content_words, rank

TEXTS = [
    "The affected order cap is 4 per day.",
    "An order came in on Monday.",
    "Caps were ordered for the whole team.",
    "Nothing to see here.",
]


def order(texts, query, limit=10):
    return [item.index for item in rank(texts, query, limit)]


def test_the_text_with_the_rare_words_comes_first():
    assert order(TEXTS, "What is the affected order cap?")[0] == 0


def test_words_match_whatever_their_ending():
    assert sorted(order(TEXTS, "ordering a cap")) == [0, 1, 2]


def test_coverage_is_the_share_of_content_words_found_per_mille():
    (first, second, *_) = rank(TEXTS, "the affected order cap of Berlin", 10)
    assert (first.index, first.coverage) == (0, 750)
    assert second.coverage == 500


def test_a_text_that_holds_no_word_is_left_out():
    assert rank(TEXTS, "zebra", 10) == ()
    assert 3 not in order(TEXTS, "order")


def test_ties_are_broken_by_position():
    assert order(["same words", "other", "same words", "same words"], "same words") == [0, 2, 3]


def test_the_limit_holds():
    assert order(["a cap"] * 5, "cap", 2) == [0, 1]
    assert rank(["a cap"], "cap", 0) == rank(["a cap"], "cap", -1) == rank([], "cap", 5) == ()


def test_stop_words_do_not_count():
    assert content_words("What is the cap of an order?") == ("cap", "order")
    assert content_words("what's their order's cap") == ("order", "cap")
    assert order(["the of and", "a cap"], "what is the cap") == [1]


def test_a_query_of_stop_words_alone_is_taken_at_its_word():
    assert content_words("to be or not to be") == ("to", "be", "or", "not")
    assert order(["to be", "cap"], "to be") == [0]


@pytest.mark.parametrize(
    "query",
    [
        '"',
        '""',
        "cap AND",
        "NOT",
        "NEAR(order cap, 2)",
        "text: x",
        "{a b}:",
        "*",
        "cap*",
        "^",
        "%",
        "_",
        "a'b",
        "+",
        "\x00",
        "\ud83d",
        "(",
        "-",
    ],
)
def test_operators_quotes_and_wildcards_are_text(query):
    rank(TEXTS, query, 5)


def test_a_wildcard_matches_nothing_and_a_nul_ends_nothing():
    assert order(TEXTS, "%") == order(TEXTS, "_") == []
    assert order(["head\x00tail", "tail"], "tail") == [1, 0]
    assert order(["build \ud83d done"], "done \udc00") == [0]


def test_an_identifier_counts_most_as_a_whole():
    texts = ["order 7 of batch 1042", "ORD-1042 is late", "see 1042"]
    assert order(texts, "where is ORD-1042?")[0] == 1
    texts = ["version 3 has 14 parts", "read contract_14.txt", "contract 14 parts"]
    assert order(texts, "contract_14.txt")[0] == 1


def test_accents_and_case_do_not_matter():
    assert order(["CAFÉ hours"], "café") == order(["café hours"], "CAFE") == [0]


def test_text_without_spaces_is_found():
    texts = ["这份合同的每日上限是四", "另一句话", "그 계약서의 한도", "受注の上限"]
    assert order(texts, "合同") == order(texts, "合同上限是")[:1] == [0]
    assert content_words("合同上限 cap") == ("合同", "同上", "上限", "cap")
    assert order(texts, "계약서") == [2]
    assert order(texts, "上限") == [3, 0]


def test_a_long_query_is_fine():
    assert order(TEXTS, " ".join(f"w{n}" for n in range(3000)) + " affected") == [0]


@settings(max_examples=40, deadline=None)
@given(texts=st.lists(st.text(max_size=30), max_size=6), query=st.text(max_size=20))
def test_any_text_is_ranked_and_always_the_same(texts, query):
    found = rank(texts, query, 4)
    assert found == rank(list(texts), query, 4)
    assert len(found) <= 4
    assert [item for item in found if not 0 < item.coverage <= 1000 and content_words(query) == ()] == []


def test_a_ranked_text_is_a_plain_value():
    assert rank(["cap"], "cap", 1) == (
        Ranked(index=0, score=rank(["cap"], "cap", 1)[0].score, coverage=1000),
    )
    assert rank(["cap"], "cap", 1)[0].score > 0
