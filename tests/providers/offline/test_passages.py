from ethang_nb.providers.offline.passages import split, together


def texts(source: str, first: int = 1) -> list[tuple[str, int, int]]:
    return [(one.text, one.first, one.last) for one in split(enumerate(source.split("\n"), first), "file:x")]


def test_wrapped_prose_is_joined_to_sentences():
    source = (
        "The supplier delivers every part that the schedule names, at the\n"
        "price of the schedule. The cap is 125,000 for all of them together, and\n"
        "no more is owed.\n\nA new paragraph."
    )
    assert texts(source, 10) == [
        ("The supplier delivers every part that the schedule names, at the price of the schedule.", 10, 11),
        ("The cap is 125,000 for all of them together, and no more is owed.", 11, 12),
        ("A new paragraph.", 14, 14),
    ]


def test_lists_and_code_stay_a_line_each():
    clauses = "\n".join(f"clause 3.{n}: routine contractual language, nothing notable" for n in range(3))
    assert [first for _, first, _ in texts(clauses)] == [1, 2, 3]
    code = "result = compute(first, second, third, fourth, fifth)\nreturn result"
    assert [first for _, first, _ in texts(code)] == [1, 2]


def test_a_line_of_code_knows_the_definition_around_it():
    source = 'class CycleError(ValueError):\n    """Raised on cycles."""\n\ndef f(x):\n    return x\n\ny = 1'
    scopes = [(one.text, one.scope) for one in split(enumerate(source.split("\n"), 1), "file:x.py")]
    assert scopes[1] == ('"""Raised on cycles."""', "class CycleError(ValueError):")
    assert scopes[3] == ("return x", "def f(x):")
    assert scopes[4] == ("y = 1", "")
    assert "Cycle Error" in split([(1, "raise CycleError")], "file:x.py")[0].words


def test_neighbours_are_joined_only_where_their_lines_touch():
    found = split([(1, "one"), (2, "two"), (4, "four")], "file:x")
    assert [(one.first, one.last) for one in together(found)] == [(1, 2)]


def test_a_place_names_lines_and_address():
    assert split([(12, "x")], "file:a.txt")[0].where == "line 12, file:a.txt#L12"
    assert split([(3, "x")], "")[0].where == "line 3"
