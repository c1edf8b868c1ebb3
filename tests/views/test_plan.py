"""Plan: what leaves, by which rule, where to read it again, what it costs."""

from dataclasses import replace

from ethang_nb.context.plan import Price, Verdict
from ethang_nb.views import plan
from ethang_nb.views.limits import OUTPUT_BYTES
from tests.views import samples
from tests.views.reading import Reading

PLAN = samples.contract_plan()
GOLDEN = """\
Cleanup (asked for): 3,284 → 2,780 tokens, 68.4 % → 57.9 % full. Policy ethang.
asked for; frees 504 tokens

           segment                                           before     after
leaves     read_file data/contracts/contract_16.txt              52         0
           oldest exchange; leaves whole
           read again: file:data/contracts/contract_16.txt#L1-31@e3779b10
leaves     read_file data/contracts/contract_18.txt              52         0
           oldest exchange; leaves whole
           read again: file:data/contracts/contract_18.txt#L1-31@1fe68e72
one line   read_file data/contracts/contract_19.txt             501        52
           old tool output; it can be read again
           read again: file:data/contracts/contract_19.txt#L1-31@be1e0823
rewritten  handoff note, generation 7                           431       480
           one note, rewritten from the record

4 segments stay, and the fixed parts.
480 tokens reserved for the handoff note.
Cached prefix breaks after 1,037 tokens; 1,853 are processed again; every later
request is 1,397 shorter; pays after 2 calls.
digest 5f0c5f0c5f0c5f0c5f0c5f0c5f0c5f0c5f0c5f0c5f0c5f0c5f0c5f0c5f0c5f0c"""


def test_the_text_is_this():
    assert str(PLAN) == GOLDEN


def test_a_plan_that_changes_nothing_says_so():
    assert plan.text(samples.nothing(samples.WINDOW, used=100)) == (
        "Nothing: 100 tokens stay, 2.0 % full. Policy ethang.\nbelow every level"
    )


def test_a_price_that_never_pays_says_so():
    cost = Price(prefix=0, again=9, saved=0, pays_after=None, read_per_mille=100, write_per_mille=1_250)
    assert plan.price(cost).endswith("never pays at these prices.")


def test_html_names_rule_and_address():
    html = plan.html(PLAN)
    read = Reading(html)
    assert not read.faults
    assert len(html.encode()) < OUTPUT_BYTES
    assert "old tool output; it can be read again" in read.text
    assert "(read)" not in read.text
    assert "file:data/contracts/contract_19.txt#L1-31@be1e0823" in read.text
    assert "501 → 52" in read.text


def test_a_short_plan_stands_open_and_a_long_one_is_closed():
    assert ("details", "open") in Reading(plan.html(PLAN)).names
    assert ("details", "open") not in Reading(plan.html(samples.large().plan)).names


def test_a_rule_is_told_by_its_reason_without_its_code():
    verdict = Verdict(
        segment="1", title="look", act="collapse", before=90, after=30, code="lost", address="log://2",
        reason="old tool output; only the record still has it",
    )  # fmt: skip
    found = replace(samples.nothing(samples.WINDOW), outcome="cleanup", _verdicts=lambda: (verdict,))
    for said in (plan.text(found), Reading(plan.html(found)).text):
        assert "only the record still has it" in said
        assert "(lost)" not in said


def test_what_is_said_besides_stands_under_the_outcome():
    found = samples.nothing(samples.WINDOW)
    assert "\nThe next one starts <anew>.\n" in plan.text(found, more="The next one starts <anew>") + "\n"
    assert "The next one starts <anew>." in Reading(plan.html(found, more="The next one starts <anew>")).text


def test_it_says_whose_prices_it_was_reckoned_with():
    usual = samples.PRICE
    own = replace(usual, read_per_mille=500, write_per_mille=1_000)
    found = PLAN
    said = Reading(plan.html(replace(found, price=usual))).text
    assert "Reckoned with usual prices: cache reads at 10.0 % of the input price, writes at 125.0 %." in said
    assert (
        "Reckoned with the model's prices: cache reads at 50.0 %"
        in Reading(plan.html(replace(found, price=own))).text
    )
    assert "the model's prices" in plan.text(replace(found, price=own))
    assert "Reckoned" not in plan.text(replace(found, price=usual))
