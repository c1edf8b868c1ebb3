import hashlib
import re
import tracemalloc

import pytest

from ethang_nb.errors import NoSuchAddress, RecordUnwritable
from ethang_nb.store import spill as spill_module
from ethang_nb.store.spill import SpillStore, spill_folder

ROWS = "\n".join(f"row {n} of the table" for n in range(1, 901))


@pytest.fixture
def store(tmp_path):
    return SpillStore(tmp_path / "spill" / "s")


def ref_of(notice):
    return re.search(r"spill://[0-9a-f]{12,}", notice)[0]


def read_all(store, ref):
    """Follows the headers from page to page."""
    joined, ask = "", (ref,)
    while True:
        header, _, body = store.read(*ask).partition("\n")
        joined += body
        on = re.search(r"read on with (?:start=(\d+)|ref=(\S+))\]$", header)
        if not on:
            return joined
        ask = (on[2],) if on[2] else (ref, int(on[1]))


def test_a_reference_is_the_contents_hash(store):
    assert store.keep("text") == f"spill://{hashlib.sha256(b'text').hexdigest()[:12]}"
    assert store.read(store.keep("text")).endswith("lines 1-1 of 1]\ntext")


def test_the_notice_says_what_was_spilled_and_how_to_read_it(store):
    notice = store.spill("find_orders", ROWS)
    ref = ref_of(notice)
    first, *head, last = notice.split("\n")
    assert first == (
        f"[find_orders returned {len(ROWS):,} characters, 900 lines; all of it is at {ref}; its first 600 characters:]"
    )
    assert "\n".join(head) == ROWS[:600]
    assert f"{len(ROWS) - 600:,} characters left out here; read them with read_spill, ref={ref}#L" in last


def test_following_the_notice_gives_all_the_rest(store):
    notice = store.spill("find_orders", ROWS)
    on = re.search(r"read_spill, ref=(\S+),", notice)[1]
    header, _, body = store.read(on).partition("\n")
    following = int(re.search(r"start=(\d+)", header)[1])
    rest = body
    while following:
        header, _, body = store.read(ref_of(notice), following).partition("\n")
        rest += body
        more = re.search(r"start=(\d+)", header)
        following = int(more[1]) if more else 0
    assert ROWS[:600] + rest == ROWS


def test_a_notice_is_much_shorter_than_what_it_stands_for(store):
    assert len(store.spill("find_orders", ROWS * 3)) < len(ROWS * 3) / 10


def test_a_short_text_is_shown_whole(store):
    notice = store.spill("look", "one\ntwo\n")
    assert "8 characters, 2 lines" in notice
    assert "\none\ntwo\n" in notice
    assert store.spill("look", "").startswith("[look returned 0 characters, 0 lines;")


def test_the_same_text_is_one_file(store):
    """Field fault SPL-04: each notice says that text was left out, is small, and names the same reference."""
    notices = {store.spill("look", "x" * 900_000) for _ in range(3)}
    (notice,) = notices
    assert len(notice) < 2000
    assert "1 line" in notice
    assert "899,400 characters left out" in notice
    assert len(list(store.folder.iterdir())) == 1


def test_one_giant_line_can_be_read_to_its_end(store):
    """Field fault SPL-03."""
    text = '{"rows":[' + '{"k":1},' * 3000 + "{}]}"
    notice = store.spill("look", text)
    assert f"{len(text):,} characters, 1 line;" in notice
    assert store.read(ref_of(notice), 1, 1).startswith(f"[{ref_of(notice)} line 1 of 1, characters 1-")
    assert read_all(store, ref_of(notice)) == text


@pytest.mark.parametrize(
    "text",
    ["", "\n", "a\n\nb", "a\r\nb\r\n", "a\u2028b\n" * 50, "漢" * 30_000, "x" * 40_000 + "\n" + "y" * 40_000],
)
def test_pages_join_to_the_original(store, text):
    assert read_all(store, store.keep(text)) == text


def test_a_read_back_page_is_bounded_and_makes_no_new_reference(tmp_path):
    """Field fault SPL-01."""
    store = SpillStore(tmp_path, limit=4000)
    ref = store.keep("\n".join(f"line {n}" for n in range(2500))[:20_000])
    shown = store.read(ref, 1, 5000)
    assert len(shown) < 4000
    assert "; read on with start=" in shown.split("\n")[0]
    assert len(list(tmp_path.iterdir())) == 1


def test_a_cut_falls_between_characters(store):
    """Field fault SPL-08."""
    notice = store.spill("look", "漢" * 30_000)
    assert "\n" + "漢" * 600 + "\n" in notice
    assert "\ufffd" not in notice
    assert "30,000 characters" in notice


def test_a_file_larger_than_a_chunk_keeps_its_characters_whole(store, monkeypatch):
    monkeypatch.setattr(spill_module, "_CHUNK", 1000)
    text = "漢😀é\n" * 2000
    assert read_all(store, store.keep(text)) == text


@pytest.mark.parametrize(
    ("text", "kept"), [("build ok \ud83d done", "build ok \ufffd done"), ("head\x00tail", "head\u2400tail")]
)
def test_broken_text_is_kept_as_it_may_be_sent(store, text, kept):
    """Field faults SPL-10 and SPL-12."""
    notice = store.spill("look", text)
    assert kept in notice
    assert store.read(ref_of(notice)).split("\n")[1] == kept


def test_escape_codes_are_kept_as_they_came(store):
    """Field fault SPL-13: what the model sees may be cleaned; what is kept is the original."""
    text = "\x1b[31mFAIL\x1b[0m a.test\n\x1b]8;;http://x.example\x07link\x1b]8;;\x07\n\x1b[?25l10%\r50%\r100%\n\x1b(B"
    assert read_all(store, store.keep(text)) == text


def test_references_hold_in_their_own_session_only(tmp_path):
    """Field fault SPL-07."""
    first, second = SpillStore(tmp_path / "1"), SpillStore(tmp_path / "2")
    a, b = first.keep("AAAA"), second.keep("BBBB")
    assert first.read(a).endswith("\nAAAA")
    assert second.read(b).endswith("\nBBBB")
    for store, ref in ((first, b), (second, a)):
        with pytest.raises(NoSuchAddress, match="nothing is kept at"):
            store.read(ref)


def test_a_tools_name_is_never_a_path(tmp_path, store):
    store.spill("../../etc/x\n" + "n" * 500, ROWS)
    (made,) = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert re.fullmatch(r"[0-9a-f]{12}\.txt", made.name)
    assert len(store.spill("../../etc/x\n" + "n" * 500, ROWS).split("\n")[0]) < 250


@pytest.mark.parametrize(
    "ref",
    [
        "spill://../../x", "spill://", "spill:///etc/passwd", "spill://0123456789ab/../x", "spill://0123456789AB",
        "spill://0123456789ab\x00", "spill://..%2f..%2fx", "spill://\ud83d", "0123456789ab", "", "log://1", "C:\\x",
        "x" * 9999,
    ],
)  # fmt: skip
def test_what_is_no_reference_is_refused_in_one_line(store, ref):
    (store.folder.parent / "x").parent.mkdir(parents=True, exist_ok=True)
    (store.folder.parent / "x.txt").write_text("secret")
    with pytest.raises(NoSuchAddress) as caught:
        store.read(ref)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 200
    str(caught.value).encode()


def test_a_text_that_was_deleted_is_named(store):
    ref = store.keep("text")
    next(store.folder.iterdir()).unlink()
    with pytest.raises(NoSuchAddress, match=f"nothing is kept at '{ref}'"):
        store.read(ref)


def test_a_text_that_was_changed_is_named_and_can_be_kept_anew(store):
    ref = store.keep("the cap is 4")
    next(store.folder.iterdir()).write_text("the cap is 5")
    with pytest.raises(NoSuchAddress, match=f"the text at {ref} was changed on disk"):
        store.read(ref)
    assert store.keep("the cap is 4") == ref
    assert store.read(ref).endswith("the cap is 4")


def test_two_texts_whose_hashes_begin_alike_stay_apart(store, monkeypatch):
    """12 hex digits can be made to collide; each reference must give its own text."""
    monkeypatch.setattr(spill_module, "_LENGTHS", (1, 24, 64))
    refs = {store.keep(f"text {n}"): f"text {n}" for n in range(17)}
    assert len(refs) == 17
    assert sorted({len(ref) for ref in refs}) == [len("spill://") + 1, len("spill://") + 24]


def test_a_place_in_a_reference_is_where_reading_begins(store):
    ref = store.keep(ROWS)
    assert store.read(f"{ref}#L12").startswith(f"[{ref} lines 12-211 of 900;")
    assert store.read(f"{ref}#L12-14") == store.read(ref, 12, 14)
    assert store.read(f"{ref}#L1-200", 201) == store.read(ref, 201)


def test_a_page_does_not_load_the_file(store, monkeypatch):
    monkeypatch.setattr(spill_module, "_CHUNK", 1 << 16)
    ref = store.keep(("x" * 99 + "\n") * 100_000)
    tracemalloc.start()
    store.read(ref, 50_000, 50_010)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2_000_000


def test_a_folder_that_cannot_be_made_is_named(tmp_path):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(RecordUnwritable, match="cannot be written"):
        SpillStore(tmp_path / "file" / "spill").keep("text")


def test_a_write_leaves_no_part_behind(store):
    store.keep(ROWS)
    assert [path.suffix for path in store.folder.iterdir()] == [".txt"]


def test_looking_makes_no_folder(store):
    with pytest.raises(NoSuchAddress):
        store.read("spill://0123456789ab")
    assert not store.folder.exists()


def test_a_plain_session_name_is_its_folders_name(tmp_path):
    assert spill_folder(tmp_path, "analysis-2") == tmp_path / ".ethang" / "spill" / "analysis-2"


@pytest.mark.parametrize(
    "name",
    ["..", "../x", "a/b", "a\\b", "", ".", "a.", ".git", "x" * 300, "Übung 1", "con:", "a\x00", "\ud83d"],
)
def test_any_other_name_becomes_a_harmless_one(tmp_path, name):
    folder = spill_folder(tmp_path, name)
    assert folder.parent == tmp_path / ".ethang" / "spill"
    assert re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_-]{0,79}", folder.name)


def test_different_names_have_different_folders(tmp_path):
    assert len({spill_folder(tmp_path, name) for name in ("a/b", "a-b", "a b", "a\\b")}) == 4
