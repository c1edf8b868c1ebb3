"""A start from the core: what leaves that the core does not hold, the warning, and what the core holds then."""

from ethang_nb.agent.reseeding import ReseedPlan
from ethang_nb.context.core import STATE_EMPTY, NotHeld
from ethang_nb.context.snapshot import Left
from ethang_nb.views.limits import OUTPUT_BYTES
from tests.views import samples
from tests.views.reading import Reading

ITEMS = (
    Left(
        how="evict", title="read_file docs/c_04.txt", tokens=303, address="file:docs/c_04.txt#L1-13@8d475708"
    ),
    Left(how="evict", title="handoff note, generation 2", tokens=200, address=""),
)
CORE = "# Core: kept word for word\n- constraint: Never open docs/c_05.txt."


def plan(items=ITEMS, warning="", core=CORE, **values):
    given = {
        "outcome": "reseed",
        "policy": "ethang",
        "window": samples.WINDOW,
        "levels": samples.LEVELS,
        "before": 2_200,
        "after": 700,
        "fill_before": 458,
        "fill_after": 145,
        "reason": "45.8 % full; the new piece of work starts from the core, 1,500 tokens are freed",
        "price": samples.PRICE,
    }
    return ReseedPlan(**(given | values), not_held=NotHeld(items=tuple(items), warning=warning), core=core)


GOLDEN = """\
Start from the core: 2,200 → 700 tokens, 45.8 % → 14.5 % full. Policy ethang.
45.8 % full; the new piece of work starts from the core, 1,500 tokens are freed

2 segments of 503 tokens leave that the core does not hold; all of it stays in
the record.
  not in the core                                                  tokens
  read_file docs/c_04.txt                                             303
    read again: file:docs/c_04.txt#L1-13@8d475708
  handoff note, generation 2                                          200

The core then:
  # Core: kept word for word
  - constraint: Never open docs/c_05.txt.

Cached prefix breaks after 1,037 tokens;"""


def test_the_text_is_this():
    assert str(plan()).startswith(GOLDEN)


def test_html_has_the_same():
    read = Reading(plan()._repr_html_())
    assert not read.faults
    for part in (
        "2,200 → 700 tokens",
        "read_file docs/c_04.txt",
        "303",
        "Never open docs/c_05.txt.",
        "The core then",
    ):
        assert part in read.text


def test_an_empty_state_is_a_warning_on_top():
    text = str(plan(warning=STATE_EMPTY, core=""))
    assert "\n\n! The state is empty: " in text
    assert text.index("! The state") < text.index("2 segments of 503")
    assert "The state is empty: " in Reading(plan(warning=STATE_EMPTY, core="")._repr_html_()).text


def test_nothing_missing_is_said():
    assert "Nothing leaves that the core does not hold." in str(plan(items=()))
    assert "Nothing leaves that the core does not hold." in Reading(plan(items=())._repr_html_()).text


def test_one_that_is_not_done_says_why_and_no_more():
    found = plan(outcome="idle", after=2_200, fill_after=458, reason="it would free less than the minimum")
    assert str(found).splitlines()[1] == "it would free less than the minimum"
    assert 2 == len(str(found).splitlines())
    assert "No start from the core" in Reading(found._repr_html_()).text


def test_many_segments_stay_a_small_output():
    items = [Left(how="evict", title=f"read_file {n}", tokens=9, address=f"log://{n}") for n in range(4_000)]
    found = plan(items=items, core=CORE + "\n- constraint: word" * 9_000)
    assert len(found._repr_html_().encode()) < OUTPUT_BYTES
    assert "more; see plan.not_held.items[" in str(found)


def test_hostile_texts_stay_texts():
    bad = samples.HOSTILE
    found = plan(items=[Left(how="evict", title=bad, tokens=1, address=bad)], core=bad, warning=bad)
    read = Reading(found._repr_html_())
    assert not read.faults
    assert not {"script", "img"} & set(read.tags)
