import pytest

from ethang_nb.providers.offline.grammar import content_words, parse, prohibitions
from ethang_nb.providers.offline.names import Source, forbids, normal, quoted, unquoted


def files(*paths: str) -> tuple[Source, ...]:
    return tuple(Source(path=path) for path in paths)


def folder(path: str, pattern: str = "*") -> tuple[Source, ...]:
    return (Source(path=path, folder=True, pattern=pattern),)


@pytest.mark.parametrize(
    ("task", "sources", "question"),
    [
        (
            "Read every file in data/contracts and tell me which order is affected and what its cap is.",
            folder("data/contracts"),
            "which order is affected and what its cap is",
        ),
        ("read a.txt, b.txt and c.txt. find the cap", files("a.txt", "b.txt", "c.txt"), "the cap"),
        ("READ ALL FILES IN data/contracts AND REPORT the cap!", folder("data/contracts"), "the cap"),
        (
            "Read all .py files in json. Which error is raised?",
            folder("json", "*.py"),
            "Which error is raised",
        ),
        ("Read every Python file in lib and tell us the cap", folder("lib", "*.py"), "the cap"),
        ("Read lib/*.py, then report back to me the cap", folder("lib", "*.py"), "the cap"),
        ("Read the folder contracts. Tell me the cap", folder("contracts"), "the cap"),
        ("Read the files in the contracts folder and find the cap", folder("contracts"), "the cap"),
        ("Read everything here and tell me the cap", folder("."), "the cap"),
        ("Read data/contracts/ and tell me the cap", folder("data/contracts"), "the cap"),
        ("Read:\n- a.txt\n- b/c.txt\nTell me the cap", files("a.txt", "b/c.txt"), "the cap"),
        ("1. Read a.txt\n2. Tell me the cap", files("a.txt"), "the cap"),
        ("Read a.txt and b.txt in data and tell me the cap", files("data/a.txt", "data/b.txt"), "the cap"),
        ('Read "my notes.txt" and tell me the cap', files("my notes.txt"), "the cap"),
        ("Please read ./x/../a.txt to find the cap", files("a.txt"), "the cap"),
        ("Can you read README and tell me the cap?", files("README"), "the cap"),
        ("Read a.txt: which order is affected?", files("a.txt"), "which order is affected"),
        ("Read the client's a.txt and the vendor's b.txt", files("a.txt", "b.txt"), ""),
        ("Read a.txt. It matters. Tell me the cap", files("a.txt"), "the cap"),
        ("What is the cap of v2.5?", (), "What is the cap of v2.5"),
        ("Find the cap and report its currency", (), "the cap; its currency"),
        ("[context pressure] Read a.txt and tell me the cap", files("a.txt"), "the cap"),
    ],
)
def test_a_task_names_sources_and_a_question(task, sources, question):
    found = parse(task)
    assert found.sources == sources
    assert found.question == question


@pytest.mark.parametrize(
    "task", ["Do something nice.", "Summarize the contracts", "hello", "   ", "e.g. and/or"]
)
def test_a_task_without_a_verb_of_the_grammar_is_empty(task):
    assert parse(task).empty


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Never open contract_17.", ("contract_17",)),
        ("- constraint: Never open contract_17.", ("contract_17",)),
        ("Please do not read `my file.txt` or b.txt because they are private.", ("my file.txt", "b.txt")),
        ("You must never open, read or touch data/private/.", ("data/private/",)),
        ("Don’t touch secrets.", ("secrets",)),
        ("Never open contract_17 or touch b.txt.", ("contract_17", "b.txt")),
        ("Read every file in d, but do not open a.txt and b.txt, and tell me the cap", ("a.txt", "b.txt")),
        ("Never guess. Do not invent numbers. Never read files aloud to me twice.", ()),
    ],
)
def test_prohibitions_are_found_anywhere(text, names):
    assert prohibitions(text) == names


def test_exceptions_of_a_read_clause_hold_for_the_task():
    found = parse("Read every file in data except a.txt and tell me the cap")
    assert (found.sources, found.prohibitions) == (folder("data"), ("a.txt",))


@pytest.mark.parametrize(
    ("name", "path", "meant"),
    [
        ("contract_17", "data/contract_17.txt", True),
        ("contract_1", "data/contract_17.txt", False),
        ("CONTRACT_17.TXT", "data/contract_17.txt", True),
        ("data/private/", "data/private/a.txt", True),
        ("private", "data/private/a.txt", True),
        ("*.key", "data/x.key", True),
        ("contracts/a.txt", "data/contracts/a.txt", True),
        ("a.txt", "ba.txt", False),
    ],
)
def test_a_prohibition_means_a_path_its_name_or_a_folder_around_it(name, path, meant):
    assert forbids([name], path) is meant


def test_content_words_leave_out_little_words_and_file_names():
    assert content_words("which order is affected in a.txt, and what is its cap?") == (
        "order",
        "affected",
        "cap",
    )
    assert content_words("What is the client's ORD-88421 max_tokens") == ("client", "ORD-88421", "max_tokens")


@pytest.mark.parametrize("name", ["a.txt", "a\n[error] x.txt", '"said".txt', "a b\t.txt ", "ü.txt"])
def test_a_quoted_name_is_one_line_and_comes_back_whole(name):
    assert "\n" not in quoted(name)
    assert unquoted(quoted(name)) == name


def test_what_only_begins_with_a_quote_stays_as_it_is():
    assert unquoted('"half.txt') == '"half.txt'


def test_paths_have_one_spelling():
    assert [normal(path) for path in ("./a/b/", "a\\b", "", "a//b/../b")] == ["a/b", "a/b", ".", "a/b"]


@pytest.mark.parametrize(
    "text", ["Read a.txt" + " " * 500_000 + "x", "Never open " + "a, " * 20_000, "-" * 200_000]
)
def test_long_texts_are_parsed_in_one_go(text):
    parse(text)
    prohibitions(text)
