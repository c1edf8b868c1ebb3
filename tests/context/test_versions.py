"""Versions: what has moved since it was read, by the addresses of what was read."""

from hypothesis import given
from hypothesis import strategies as st

from ethang_nb.context.versions import Stale, Versions, total_of

OLD, NEW = "file:x.txt#L1-31@1a2b3c4d", "file:x.txt#L1-31@9f8e7d6c"


def read(*readings):
    versions = Versions()
    for log, address, *total in readings:
        versions.enter(log, address, total=total[0] if total else None)
    return versions


def test_the_same_lines_with_another_hash_have_moved():
    versions = read((3, OLD), (41, NEW))
    assert Stale(address=OLD, since=41, now=NEW) == versions.stale(OLD)
    assert f"stale since log://41, read again at {NEW}" == str(versions.stale(OLD))
    assert versions.stale(NEW) is None
    assert 1 == versions.moved


def test_what_moved_twice_is_stale_since_the_first_time_and_stands_at_the_newest():
    third = "file:x.txt#L1-31@33333333"
    versions = read((3, OLD), (41, NEW), (50, third))
    assert (41, third) == (versions.stale(OLD).since, versions.stale(OLD).now)
    assert 50 == versions.stale(NEW).since


def test_what_came_back_as_it_was_is_not_stale():
    versions = read((3, OLD), (41, NEW), (50, OLD))
    assert versions.stale(OLD) is None
    assert OLD == versions.stale(NEW).now


def test_other_lines_of_a_file_are_another_page_of_which_nothing_is_known():
    versions = read(
        (3, "file:x.txt#L1-31@1a2b3c4d"), (9, "file:x.txt#L32-60@9f8e7d6c"), (12, "file:x.txt#L1-40@ab")
    )
    assert versions.stale("file:x.txt#L1-31@1a2b3c4d") is None


def test_another_range_with_the_same_hash_has_not_moved():
    versions = read((3, "file:x.txt#L1-31@1a2b3c4d", 31), (9, "file:x.txt#L1-30@1a2b3c4d"))
    assert versions.stale("file:x.txt#L1-31@1a2b3c4d") is None


def test_two_readings_of_the_whole_file_are_readings_of_the_same_thing():
    grown = "file:x.txt#L1-33@9f8e7d6c"
    versions = read((3, OLD, 31), (41, grown, 33))
    assert Stale(address=OLD, since=41, now=grown) == versions.stale(OLD)
    assert versions.stale(grown) is None


def test_a_page_is_not_the_whole_file():
    versions = read((3, OLD, 31), (41, "file:x.txt#L1-33@9f8e7d6c", 90))
    assert versions.stale(OLD) is None


def test_of_lines_and_whole_file_the_one_that_still_stands_is_named():
    grown = "file:x.txt#L1-40@44444444"
    versions = read((3, OLD, 31), (41, NEW, 31), (50, grown, 40))
    assert (41, grown) == (versions.stale(OLD).since, versions.stale(OLD).now)


def test_places_without_a_version_and_what_was_never_read_are_not_stale():
    versions = read(
        (3, "log://3"), (4, "spill://0123456789ab"), (5, "no address"), (6, ""), (7, "file:x.txt#L1-31")
    )
    for address in ("log://3", "spill://0123456789ab", "no address", "", "file:x.txt#L1-31", OLD):
        assert versions.stale(address) is None


def test_a_notebooks_variable_moves_as_a_whole():
    versions = read((3, "var:frame@1a2b3c4d"), (8, "var:frame@9f8e7d6c"))
    assert 8 == versions.stale("var:frame@1a2b3c4d").since


def test_a_copy_goes_its_own_way():
    versions = read((3, OLD))
    twin = versions.copy()
    twin.enter(41, NEW)
    assert versions.stale(OLD) is None
    assert twin.stale(OLD)


@given(
    st.lists(
        st.tuples(
            st.sampled_from([(1, 5), (1, 7), (6, 9)]),
            st.sampled_from(["aa", "bb", "cc"]),
            st.sampled_from([None, 5, 7, 9]),
        ),
        max_size=30,
    )
)
def test_the_place_a_stale_reading_points_to_is_another_reading_of_that_file(readings):
    """And of several readings in any order the last one is never stale."""
    versions = Versions()
    addresses = [f"file:x#L{first}-{last}@{version}" for (first, last), version, _ in readings]
    for log, (address, (*_, total)) in enumerate(zip(addresses, readings, strict=True), 1):
        versions.enter(log, address, total=total)
    for address in addresses:
        stale = versions.stale(address)
        if stale is not None:
            assert stale.now != address and stale.now in addresses
            assert versions.stale(stale.now) is None
            assert addresses[stale.since - 1] != address
    if addresses:
        assert versions.stale(addresses[-1]) is None


def test_a_pages_header_says_how_many_lines_the_file_has():
    assert 31 == total_of(f"[{OLD} of 31 lines]\nCONTRACT", OLD)
    assert 1480 == total_of(f"[{OLD} of 1,480 lines; read on with start=32]\n", OLD)
    assert 900 == total_of("[stale: x.txt has changed]\n[file:x.txt lines 1-31 of 900; read on]", OLD)
    assert 9 == total_of("[file:x.txt line 7 of 9, characters 1-15 of 20]", "file:x.txt#L7@ab")


def test_only_a_header_that_names_the_address_is_believed():
    for text in (
        "",
        "31 lines",
        "[file:y.txt#L1-31@1a2b3c4d of 5 lines]",
        f"a\nb\nc\n[{OLD} of 31 lines]",
        f"[{OLD}",
    ):
        assert total_of(text, OLD) is None
    assert total_of("[log://3 lines 1-2 of 9]", "log://3") is None
