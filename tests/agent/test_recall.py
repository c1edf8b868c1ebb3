"""The way back: what left the window is read again in full, and is found without the search finding itself."""

import re

import pytest

import ethang_nb as eth
from ethang_nb.context.counting import MESSAGE_OVERHEAD
from ethang_nb.context.messages import ToolCall, ToolResult, assistant, tool, user
from ethang_nb.context.pairing import violations
from ethang_nb.context.state import END
from ethang_nb.errors import NoSuchAddress, ToolFault
from tests.agent.stage import call, calls, documents, kinds, texts
from tests.context.builders import picture

ON = re.compile(r"; read on with (?:start=(\d+)|ref=(\S+))\]")


@pytest.fixture
def session(opened):
    return opened(window=4_000)


def using(session, name):
    return session.toolbox._named(name).run


def take(session, *results):
    """One tool turn with these results (name, text or fields) as a session takes them in; their texts there."""
    row = session.live.state.next_row
    asked = tuple(ToolCall(id=f"c{row}_{at}", name=name) for at, (name, _) in enumerate(results))
    session.live.append(assistant("", asked))
    for one, (name, given) in zip(asked, results, strict=True):
        fields = given if isinstance(given, dict) else {"text": given}
        session.live.append(tool(ToolResult(call_id=one.id, name=name, **fields)))
    return [message.text for message in session.live.entries[row].messages[1:]]


def read_back(session, ref):
    """The whole text at `ref`, page by page as its headers say."""
    read = using(session, "read_spill")
    whole, more = [], {"ref": ref}
    limit = session.live.state.entry_tokens - MESSAGE_OVERHEAD
    while True:
        answer = read(**more)
        assert not session.counter.over(answer.text, limit)
        assert (answer.again, answer.paged) == ("read", True)
        head, _, body = answer.text.partition("\n")
        whole.append(body)
        on = ON.search(head)
        if not on:
            return "".join(whole)
        more = {"ref": ref, "start": int(on[1])} if on[1] else {"ref": on[2]}


TEXTS = {
    "lines": "".join(f"row {n} of the result\n" for n in range(3_000)),
    "one line": '{"rows":[' + '{"k":1},' * 3_000 + "{}]}",
    "wide": "漢字" * 4_000,
    "dense": "".join(f"{n * 7919 % 99991:x}-" for n in range(4_000)),
    "mixed": "head\n" + "x" * 30_000 + "\ntail\n" + "y\n" * 500,
    "no end": "a\n" * 4_000 + "b",
    "blank": "\n" * 9_000,
}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_a_spilled_result_shows_head_tail_and_address_and_is_read_back_in_full(session, text):
    (shown,) = take(session, ("look", text))
    assert not session.counter.over(shown, session.live.state.entry_tokens - MESSAGE_OVERHEAD)
    marker = re.search(
        r"\[… [^\]]*; the whole text: (spill://[0-9a-f]{12}), read it with read_spill\]", shown
    )
    assert marker, shown[-300:]
    head, tail = shown[: marker.start()].rstrip(), shown[marker.end() :].lstrip()
    assert text.startswith(head)
    assert text.endswith(tail)
    assert head or tail or not text.strip()
    assert read_back(session, marker[1]) == text
    assert kinds(session).count("spilled") == 1


def test_a_result_of_five_megabytes_is_spilled_and_read_back(play):
    def huge():
        return "".join(f"{n:07d} {'x' * 92}\n" for n in range(50_000))

    session = play(calls("huge"), calls("huge"), {"say": "done"}, tools=[huge], window=4_000)
    run = session.run("Go.")
    assert run.ok, run.error
    first, second = texts(session, "huge")
    assert first == second
    assert len(first) < 5_000
    ref = re.search(r"spill://[0-9a-f]{12}", first)[0]
    page = using(session, "read_spill")(ref, start=49_999)
    assert page.text.split("\n")[1] == f"{49_998:07d} {'x' * 92}"
    assert "lines 49999-50000 of 50000" in page.text
    assert len(list((session.root / ".ethang" / "spill").rglob("*.txt"))) == 1


def test_a_page_read_back_is_never_spilled_again(play):
    """SPL-01."""

    def big():
        return "\n".join(f"row {n} with some words in it" for n in range(2_000))

    session = play(calls("big"), {"say": "x"}, tools=[big], window=4_000)
    session.run("Go.")
    ref = re.search(r"spill://[0-9a-f]{12}", texts(session)[0])[0]
    answer = using(session, "read_spill")(ref)
    take(
        session,
        ("read_spill", {"text": answer.text, "address": answer.address, "again": "read", "paged": True}),
    )
    assert kinds(session).count("spilled") == 1
    assert session.live.entries[max(session.live.entries)].messages[1].text == answer.text


def test_pages_of_one_text_have_addresses_of_their_own(session):
    take(session, ("look", TEXTS["lines"]))
    ref = re.search(r"spill://[0-9a-f]{12}", session.live.assemble()[-1].text)[0]
    first = using(session, "read_spill")(ref)
    assert re.fullmatch(rf"{ref}#L1-\d+", first.address)
    second = using(session, "read_spill")(ref, start=int(ON.search(first.text)[1]))
    assert second.address != first.address
    assert using(session, "read_spill")(second.address).text == second.text


def test_parts_of_a_giant_line_have_addresses_of_their_own(session):
    take(session, ("look", TEXTS["one line"]))
    ref = re.search(r"spill://[0-9a-f]{12}", session.live.assemble()[-1].text)[0]
    first = using(session, "read_spill")(ref)
    second = using(session, "read_spill")(ON.search(first.text)[2])
    assert re.fullmatch(rf"{ref}#L1C\d+", second.address)
    assert using(session, "read_spill")(second.address).text == second.text


# ---- every kind of address


def test_a_message_of_the_record_is_read_at_its_number(session):
    session.live.append(user("The cap is 125,000 EUR."))
    number = session.archive.record.last
    assert read_back(session, f"log://{number}") == "The cap is 125,000 EUR."


def test_a_result_without_a_place_of_its_own_is_read_in_the_record(session):
    take(session, ("look", "seven kg"))
    address = session.segments[-1].address
    assert address.startswith("log://")
    assert read_back(session, address) == "seven kg"


def test_a_pin_by_hand_is_read_again_at_its_address(session):
    """It enters as a message of ours, and may leave like any other once its sentence stands in the core."""
    session.live.request()
    session.pin("Amounts are in EUR.")
    session.live.request()
    assert read_back(session, session.segments[-1].address) == "[pinned constraint] Amounts are in EUR."


def test_a_file_is_read_at_the_address_of_its_page(tmp_path, session):
    (tmp_path / "a.txt").write_bytes("\ufeffone\r\ntwo\r\nthree\r\n".encode())
    page = using(session, "read_file")("a.txt", start=2)
    answer = using(session, "read_spill")(page.address)
    assert answer.text == "[file:a.txt lines 2-3 of 3]\ntwo\nthree\n"
    assert answer.address == page.address
    assert using(session, "read_spill")("file:a.txt").text.startswith("[file:a.txt lines 1-3 of 3]\none\n")


def test_what_a_file_said_when_it_was_read_is_had_from_the_record_once_it_is_changed_or_gone(tmp_path):
    (tmp_path / "a.txt").write_text("first\nsecond\n")
    with eth.Session("reader", name="t", window=4_000, root=tmp_path) as session:
        session.run("Read a.txt and tell me what is second.")
        address = next(row.address for row in session.segments if row.address.startswith("file:a.txt"))
        (tmp_path / "a.txt").write_text("other\ntext\n")
        line = using(session, "read_spill")("file:a.txt#L2").text
        assert "other\ntext" in using(session, "read_spill")("file:a.txt").text
        changed = using(session, "read_spill")(address).text
        (tmp_path / "a.txt").unlink()
        gone = using(session, "read_spill")(address).text
        part = using(session, "read_spill")(address, start=2, end=2).text
    assert part.rstrip("\n").endswith("of 3]\nsecond")
    assert "second" in line
    assert "text" not in line
    for text in (changed, gone):
        assert text.startswith(
            "[stale: file:a.txt is gone or has changed since it was read; this is what it said then"
        )
        assert "first\nsecond" in text
        assert "other" not in text


def test_a_file_that_changed_since_says_stale(tmp_path, session):
    (tmp_path / "a.txt").write_text("one\ntwo\nthree\n")
    address = using(session, "read_file")("a.txt", start=2).address
    (tmp_path / "a.txt").write_text("ONE\ntwo\nthree\n")
    assert "stale" not in using(session, "read_spill")(address).text
    (tmp_path / "a.txt").write_text("one\ntwo\nTHREE\n")
    answer = using(session, "read_spill")(address)
    assert answer.text.startswith(
        "[stale: a.txt has changed since it was read]\n[file:a.txt lines 2-3 of 3]\ntwo\n"
    )
    assert answer.address != address
    assert "stale" not in using(session, "read_spill")(answer.address).text


def test_a_page_whose_line_was_cut_is_not_stale(tmp_path, session):
    (tmp_path / "a.json").write_text("0123456789" * 9_000 + "\n")
    page = using(session, "read_file")("a.json")
    on = re.search(r"it goes on at (\S+), for read_spill", page.text)[1]
    whole = page.text.split("\n")[1].split(" [… ")[0] + read_back(session, on)
    assert whole == "0123456789" * 9_000 + "\n"
    assert "stale" not in using(session, "read_spill")(page.address).text


def test_every_part_of_a_file_is_reached_at_its_address(tmp_path, session):
    (tmp_path / "a.txt").write_text(TEXTS["mixed"])
    assert read_back(session, "file:a.txt") == TEXTS["mixed"]


@pytest.mark.parametrize(
    ("ref", "said"),
    [
        ("", "'' is no address; one looks like spill://0123456789ab, log://12 or file:a.txt#L1-9"),
        ("nonsense", "'nonsense' is no address"),
        ("http://x.example", "is no address"),
        ("spill://../../x", "is no address"),
        ("spill://0123456789ab", "nothing is kept at 'spill://0123456789ab'"),
        ("log://999", "log://999 is not in the record"),
        ("log://0", "log://0 is not in the record"),
        ("log://1", "log://1 is an event without a text of its own"),
        ("log://-1", "is no address"),
        ("log://¹", "is no address"),
        ("log://" + "9" * 40, "is no address"),
        ("file:../x", "leads out of the root"),
        ("file:nowhere.txt", "no file"),
        ("file:bin", "holds NUL bytes"),
        ("file:", "is no address"),
        ("file:a.txt#L99", "has 3 lines; start=99 is behind its end"),
        ("file:a\x00", "is no address"),
        ("spill://0123456789ab#L1C999", "nothing is kept"),
        ("x" * 10_000, "is no address"),
    ],
)
def test_an_address_that_names_nothing_is_an_error_result_of_one_line(tmp_path, session, ref, said):
    (tmp_path / "a.txt").write_text("1\n2\n3\n")
    (tmp_path / "bin").write_bytes(b"\x00")
    with pytest.raises(ToolFault) as caught:
        using(session, "read_spill")(ref)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 300


def test_spills_of_another_session_are_not_in_reach(opened):
    """SPL-07."""
    one, two = opened(name="one", window=4_000), opened(name="two", window=4_000)
    address = one.archive.spill("look", "only for one")
    assert "only for one" in using(one, "read_spill")(address).text
    with pytest.raises(ToolFault, match="another session's"):
        using(two, "read_spill")(address)


# ---- searching


def test_a_line_that_left_is_found_with_the_address_it_can_be_read_at(tmp_path, opened):
    documents(tmp_path, 11)
    session = opened("reader?follow=no&nudge=ignore")
    session.run("Read every file in docs.")
    assert "125,000" not in "".join(message.text for message in session.live.assemble() if message.results)
    answer = using(session, "find_in_record")("affected order cap")
    head, first, *_ = answer.text.split("\n")
    assert head.endswith("lines of the record match: affected order cap]")
    assert first.startswith("file:docs/c_03.txt#L14 | 3.99 The affected order is ORD-88421")
    assert "125,000" in using(session, "read_spill")(first.split(" | ")[0]).text


def test_a_spilled_text_is_found_at_its_own_line(session):
    take(session, ("look", TEXTS["lines"] + "the needle lies here\n" + TEXTS["lines"]))
    (hit,) = using(session, "find_in_record")("needle").text.split("\n")[1:]
    assert re.fullmatch(r"spill://[0-9a-f]{12}#L3001 \| the needle lies here", hit)


def test_a_search_finds_neither_itself_nor_the_question(play):
    """The task in view, earlier searches, what was read back and their spills are no news."""

    def look() -> str:
        return "a zebra was seen"

    def stray() -> str:
        return "nothing of the kind"

    session = play(
        calls("look"),
        calls(call("find_in_record", query="zebra")),
        calls(call("read_spill", ref="log://7")),
        calls(call("find_in_record", query="zebra")),
        calls(call("find_in_record", query="quagga"), call("release_context", addresses=["quagga"])),
        calls(call("find_in_record", query="quagga")),
        {"say": "done"},
        tools=[look, stray],
    )
    session.run("Where is the zebra, and where is the quagga?")
    first, second, third, fourth = texts(session, "find_in_record")
    assert first.split("\n")[0] == "[1 lines of the record match: zebra]"
    assert first == second
    assert third == fourth == "[no line of the record matches: quagga]"


def test_a_question_that_left_the_window_is_found_again(session):
    session.live.append(user("The first task about nothing."))
    session.live.append(user("Remember the okapi."))
    session.live.append(assistant("Noted."))
    session.live.append(user("x"))
    assert "matches" in using(session, "find_in_record")("okapi").text
    state = session.live.state  # it leaves as an eviction would have it, without the texts that would take
    session.live.state = state._replace(live=((0, 1), (2, END)))
    assert "Remember the okapi." in using(session, "find_in_record")("okapi").text


def test_a_long_list_of_hits_fits_a_page_and_is_not_spilled(session):
    take(session, ("look", "\n".join(f"needle {n} " + "漢字" * 150 for n in range(40))))
    spilled = kinds(session).count("spilled")
    answer = using(session, "find_in_record")("needle", limit=20)
    assert not session.counter.over(answer.text, session.live.state.entry_tokens - MESSAGE_OVERHEAD)
    count = int(re.match(r"\[(\d+) lines", answer.text)[1])
    assert 1 <= count < 20
    assert len(answer.text.split("\n")) == count + 1
    take(session, ("find_in_record", {"text": answer.text, "again": "run", "paged": True}))
    assert kinds(session).count("spilled") == spilled


@pytest.mark.parametrize(
    "query", ["", " ", '"', "AND OR NOT", "zebra*", "\x00", "\ud83d", "(" * 500, "a" * 5_000]
)
def test_any_query_is_answered(session, query):
    take(session, ("look", "a zebra"))
    assert using(session, "find_in_record")(query).text.startswith("[")


@pytest.mark.parametrize("limit", [-1, 0, 1, 10**9])
def test_any_limit_is_brought_into_bounds(session, limit):
    take(session, ("look", "\n".join(f"zebra {n}" for n in range(60))))
    lines = using(session, "find_in_record")("zebra", limit=limit).text.split("\n")[1:]
    assert len(lines) == (20 if limit > 20 else 1)


# ---- offering


@pytest.fixture
def three(session):
    """Three results in the window, the last of them in the newest segment."""
    session.live.append(user("Look."))
    for name, text in (("one", "alpha " * 100), ("two", "beta " * 100), ("three", "gamma " * 100)):
        take(session, (name, {"text": text, "address": f"file:{name}.txt#L1-9@00000000", "again": "read"}))
    return session


def test_offered_results_become_one_line_that_says_where_they_are(three):
    used = three.budget.used
    answer = using(three, "release_context")(["file:one.txt#L1-9@00000000", "file:two.txt#L1-9@00000000"])
    freed = used - three.budget.used
    assert answer.text == f"[released 2 results, {freed:,} tokens freed]"
    shown = [message.text for message in three.live.assemble() if message.results]
    assert shown[0].startswith("[left the window: one, ")
    assert "read again: file:one.txt#L1-9@00000000]" in shown[0]
    assert shown[2].startswith("gamma")
    assert () == violations(three.live.assemble())


def test_each_refusal_has_its_reason(three):
    release = using(three, "release_context")
    release(["file:one.txt#L1-9@00000000"])
    take(three, ("tiny", {"text": "x", "address": "file:tiny#L1-1@00000000", "again": "read"}))
    take(three, ("last", "delta " * 50))
    answer = release(
        [
            "file:one.txt#L1-9@00000000",
            "file:tiny#L1-1@00000000",
            three.segments[-1].address,
            "file:nowhere.txt",
            "file:two.txt#L1-9@00000000",
        ]
    )
    assert answer.text.split("\n")[0].startswith("[released 1 results, ")
    assert set(answer.text.split("\n")[1:]) == {
        "kept file:one.txt#L1-9@00000000: it is one line already",
        "kept file:tiny#L1-1@00000000: its line would not be shorter",
        f"kept {three.segments[-1].address}: the newest segment stays",
        "kept file:nowhere.txt: no result in the window has this address",
    }


def test_an_address_without_its_lines_stands_for_all_its_pages(session):
    session.live.append(user("Look."))
    for page in (1, 2, 3):
        take(
            session,
            (
                "read_spill",
                {"text": "alpha " * 90, "address": f"spill://000000000000#L{page}-{page}", "again": "read"},
            ),
        )
    assert using(session, "release_context")(["spill://000000000000"]).text.startswith("[released 2 results")


def test_the_same_page_read_twice_is_released_twice(session):
    session.live.append(user("Look."))
    for _ in range(2):
        take(
            session,
            ("read_file", {"text": "alpha " * 90, "address": "file:a#L1-9@00000000", "again": "read"}),
        )
    take(session, ("last", "x"))
    assert using(session, "release_context")(["file:a#L1-9@00000000"]).text.startswith("[released 2 results")


def test_very_many_wrong_addresses_are_not_all_spelled_out(three):
    answer = using(three, "release_context")([f"file:{n}.txt" for n in range(500)] + ["x" * 9_000])
    assert answer.text.split("\n")[-1] == "kept 491 more"
    assert len(answer.text) < 2_000


@pytest.mark.parametrize("addresses", [None, []])
def test_without_addresses_a_cleanup_is_asked_for_and_runs_before_the_next_request(three, addresses):
    answer = using(three, "release_context")(addresses)
    assert answer.text == "[a cleanup was asked for; it runs before the next request]"
    assert three.live.state.asked
    assert three.live.request().decision.asked


def test_a_release_by_the_model_is_recorded_and_replayed(tmp_path, opened):
    documents(tmp_path, 8)
    session = opened()
    session.run("Read every file in docs.")
    assert "release" in kinds(session)
    state, entries = picture(session.live.state), session.live.assemble()
    session.close()
    again = eth.open_session("t", tmp_path)
    assert (again.drift, picture(again.live.state), again.live.assemble()) == ((), state, entries)
    again.close()


def test_an_archive_names_what_it_cannot_read(session):
    with pytest.raises(NoSuchAddress):
        session.archive.read("log://77", characters=1_000, fits=lambda _: True)
