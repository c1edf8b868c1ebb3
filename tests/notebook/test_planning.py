"""%ethang plan --reseed, reseed, cool, trace, replay, policies: what each shows or does, and what it says of a slip."""

import pytest
from IPython.core.completer import provisionalcompleter

import ethang_nb
from ethang_nb.agent.opening import find_open
from ethang_nb.agent.reseeding import ReseedPlan
from ethang_nb.agent.trace import Trace
from ethang_nb.context.policies import Policies
from ethang_nb.context.timeline import Timeline

TASK = "%%ethang --window 6000\nRead every file in contracts and tell me which order is affected."
MINE = '[policies.mine]\nbase = "lean"\nlevels = [500, 600, 300]\n'


@pytest.fixture
def used(notebook):
    notebook.run(TASK)
    return notebook


@pytest.mark.parametrize(
    "line",
    [
        "plan --reseed",
        "trace ORD-47",
        "trace nowhere",
        "replay",
        "replay --policy trim --window 3000",
        "policies",
    ],
)
def test_each_look_has_text_and_html(used, line):
    value = used.run(f"%ethang {line}").value
    data, _ = used.shell.display_formatter.format(value)
    assert {"text/plain", "text/html"} == set(data)
    assert str(value) == data["text/plain"]
    assert sum(map(len, data.values())) < 50_000
    assert str(used.folder) not in data["text/plain"] + data["text/html"]


@pytest.mark.parametrize("line", ["plan --reseed", "trace ORD-47", "replay"])
def test_without_a_session_a_look_says_how_to_start_one(notebook, line):
    said = str(notebook.run(f"%ethang {line}").value)
    assert 1 == len(said.splitlines())
    assert "start one with a cell: %%ethang --window 6000" in said


@pytest.mark.parametrize("line", ["reseed", "cool"])
def test_without_a_session_an_act_is_an_error_of_one_line(notebook, line):
    assert (
        "Misuse: no session in this notebook yet; start one with" in notebook.fails(f"%ethang {line}").line()
    )


def test_plan_shows_a_reseed_before_it_is_done(used):
    session = find_open("audit")
    plan = used.run("%ethang plan --reseed").value
    assert isinstance(plan, ReseedPlan)
    assert str(session.plan(reseed=True)) == str(plan)
    done = used.run("%ethang reseed").value
    assert (plan.outcome, plan.after, plan.not_held) == (done.outcome, done.after, done.not_held)
    assert "goes on from the core after" in str(used.run("%%ethang\nTell me which order is affected.").value)


def test_cool_says_what_comes_and_the_next_cell_starts_from_the_core(used):
    assert "The next piece of work of session audit starts from the core." == str(
        used.run("%ethang cool").value
    )
    assert "reseed" == used.run("%%ethang\nTell me which order is affected.").value.reseed.outcome


def test_a_reseed_during_a_detached_run_is_one_line(used):
    used.run("%%ethang --session slow --model script:slow.yaml --detach\ngo")
    said = used.fails("%ethang reseed --session slow").line()
    assert "SessionBusy: session slow is at step" in said
    assert "cool() it: the next piece of work then starts from the core" in said
    used.run("%ethang cool --session slow")
    find_open("slow").stop()


def test_trace_takes_all_that_follows_as_it_is_written(used):
    found = used.run("%ethang trace order is ORD-47 and its cap").value
    assert isinstance(found, Trace)
    assert find_open("audit").trace("order is ORD-47 and its cap") == found
    assert found.places
    assert found == used.run("%ethang trace 'order is ORD-47 and its cap'").value


def test_replay_is_that_of_python(used):
    found = used.run("%ethang replay --policy lean --window 3_000 --levels 500,600,300").value
    assert isinstance(found, Timeline)
    assert ("lean", 3_000, 600) == (
        found.settings.policy.name, found.settings.window.total, found.settings.levels.cleanup
    )  # fmt: skip
    assert find_open("audit").replay(policy="lean", window=3_000, levels=(500, 600, 300)).fills == found.fills


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("replay --policy leen", "Unknown: unknown policy 'leen'; did you mean 'lean'?"),
        ("replay --window x", "BadWindow: window is 'x'; give a whole number of tokens"),
        ("replay --levels 700,800", "Misuse: --levels is '700,800'; give nudge, cleanup and landing"),
        ("replay --levels a,b,c", "Misuse: --levels is 'a,b,c'; give nudge, cleanup and landing"),
        ("replay --levels 700,300,400", "BadPolicy: policy 'ethang': landing 400 and cleanup 300 must rise"),
        ("replay --levels 9999,9999,1", "BadPolicy: policy 'ethang': landing 1 and cleanup 9999 must rise"),
        ("replay --levels", "Misuse: --levels needs a value; write --levels N,C,L"),
        ("replay trim", "Misuse: %ethang replay does not take 'trim'"),
        ("replay --polcy x", "Unknown: unknown flag '--polcy'; did you mean '--policy'?"),
        ("trace", "Misuse: %ethang trace needs TEXT"),
        ("trace ''", "Misuse: %ethang trace needs TEXT"),
        ("cool down", "Misuse: %ethang cool does not take 'down'"),
        ("reseed now", "Misuse: %ethang reseed does not take 'now'"),
        ("plan --resed", "Unknown: unknown flag '--resed'; did you mean '--reseed'?"),
        ("request x", "Misuse: 'x' is not the number of a step"),
        ("request 99", "NoSuchAddress: no request of step 99 in session audit; it has steps 1 to"),
    ],
)
def test_a_slip_is_one_line(used, line, said):
    assert used.fails(f"%ethang {line}").line().startswith(said)


def test_policies_of_the_project_are_listed_offered_and_used(used):
    (used.folder / "ethang.toml").write_text(MINE)
    listed = used.run("%ethang policies").value
    assert isinstance(listed, Policies)
    assert (*ethang_nb.policies, "mine") == tuple(listed)
    assert "\nmine        ethang.toml " in str(listed)
    for line in ("%%ethang --policy mi", "%ethang replay --policy mi"):
        with provisionalcompleter():
            offered = [item.text for item in used.shell.Completer.completions(line, len(line))]
        assert ["mine"] == offered
    used.run("%%ethang --policy mine\nTell me which order is affected.")
    assert "mine" == find_open("audit").policy.name
    assert "mine (from argument)" in str(used.run("%ethang status").value)
    assert "mine" == used.run("%ethang replay --policy mine").value.settings.policy.name
    used.run("%config Ethang.policy = 'mine'")
    used.run("%%ethang --new\nTell me which order is affected.")
    assert "mine" == find_open("audit-2").policy.name


def test_a_bad_policy_of_the_project_is_one_line_wherever_it_is_met(used):
    (used.folder / "ethang.toml").write_text("[policies.mine]\nreseed = 900\n")
    said = "BadPolicy: ethang.toml: policy 'mine': reseed 900 is above the nudge level; give 1 to"
    for cell in (
        "%ethang policies",
        "%%ethang --policy mine\ngo",
        "%%ethang\ngo",
        "%ethang replay --policy mine",
    ):
        assert used.fails(cell).line().startswith(said)
    line = "%%ethang --policy "
    with provisionalcompleter():
        offered = [item.text for item in used.shell.Completer.completions(line, len(line))]
    assert list(ethang_nb.policies) == offered
    assert "ORD-47" in str(used.run("%ethang context").value)  # what needs no policy goes on


@pytest.mark.parametrize("name", ["reseed", "cool", "trace", "replay", "policies", "plan"])
def test_help_and_completion_know_them(notebook, name):
    assert f"%ethang {name}" in str(notebook.run(f"%ethang help {name}").value)
    assert f"\n  {name}" in str(notebook.run("%ethang help").value)
    line = f"%ethang {name[:3]}"
    with provisionalcompleter():
        assert name in [item.text for item in notebook.shell.Completer.completions(line, len(line))]


def test_the_flags_of_a_replay_are_offered(notebook):
    line = "%ethang replay --"
    with provisionalcompleter():
        offered = [item.text for item in notebook.shell.Completer.completions(line, len(line))]
    assert ["--policy", "--window", "--levels", "--session"] == offered


def test_plan_says_what_the_next_cell_does_at_its_start(used):
    said = " ".join(str(used.run("%ethang plan").value).split())
    foretold = find_open("audit").plan(reseed=True)
    assert (
        f"The next piece of work starts from the core: frees {foretold.before - foretold.after:,} tokens; see "
        "%ethang plan --reseed."
    ) in said
    assert 1 == said.count("The next piece of work")


@pytest.mark.parametrize("look", ["plan", "status", "context"])
def test_after_cool_each_look_mentions_it(used, look):
    said = "cooled: the next piece of work starts from the core"
    assert said not in " ".join(str(used.run(f"%ethang {look}").value).split()).lower()
    used.run("%ethang cool")
    assert said in " ".join(str(used.run(f"%ethang {look}").value).split()).lower()


def test_a_replay_says_how_it_differs_from_what_happened(used):
    assert "releases by the model are not replayed" in " ".join(str(used.run("%ethang replay").value).split())
