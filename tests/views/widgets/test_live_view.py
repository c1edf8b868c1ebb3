"""The widgets: what is stored of them, what a host is told, what it may ask, and that closing leaves nothing."""

import json
import re
import threading
from pathlib import Path

import pytest
from ipywidgets.widgets import widget

import ethang_nb as eth
from ethang_nb.errors import Missing, Misuse
from ethang_nb.views import bundle, stored
from ethang_nb.views.limits import OUTPUT_BYTES
from tests.agent.conftest import no_home, opened, play  # noqa: F401 - fixtures
from tests.agent.stage import calls, script
from tests.views.live.hosts import messages

WIDGETS = ["ContextView", "BudgetBar", "SegmentList", "CompactionDiff", "TimelineView", "WhatIf", "Trace"]
REGISTRY = Path(__file__).parents[3] / "labextension" / "src" / "views" / "registry.ts"
WIDGET = "application/vnd.jupyter.widget-view+json"
HOSTILE = '<img src=x onerror="window.p=1"></script>a\u202etxt.exe'


@pytest.fixture
def context():
    found = eth.Context(3_000, name="contracts")
    found.append(messages(4))
    return found


@pytest.fixture(params=WIDGETS)
def made(request, context):
    """Each of the widgets, on the same context."""
    view = getattr(eth, request.param)(context)
    yield view
    view.close()


def bundled(view):
    return view._repr_mimebundle_()


def test_each_view_of_the_front_end_has_its_widget(context):
    known = re.findall(r"\{ id: '(\w+)'", REGISTRY.read_text())
    assert known
    assert sorted([*known, "context"]) == sorted(getattr(eth, name)(context).view for name in WIDGETS)


def test_a_stored_output_says_the_same_in_every_form_each_time(made):
    data, metadata = bundled(made)
    assert {WIDGET, "text/plain", "text/html", stored.MIME} == set(data)
    assert f"{type(made).__name__}(contracts)" == repr(made) == data["text/plain"].splitlines()[0]
    assert "<script" not in data["text/html"]
    assert {stored.MIME: {"view": made.view}} == metadata
    assert (data, metadata) == bundled(made)


@pytest.mark.parametrize("char", ["a", "<", "契", "\u202e"])
@pytest.mark.parametrize("name", WIDGETS)
def test_a_stored_output_of_anything_is_small(name, char):
    context = eth.Context(400_000, name=char * 3_000, pins=[f"Keep {char * 195}"])
    for number in range(700):
        context.append({"role": "assistant" if number % 2 else "user", "content": f"{number} {char * 400}"})
    data, _ = bundled(getattr(eth, name)(context))
    taken = (
        len(data["text/plain"].encode()) + len(data["text/html"].encode()) + stored.size(data[stored.MIME])
    )
    assert taken <= OUTPUT_BYTES


def test_what_a_model_stores_is_small_and_no_hello_is_stored_twice(context, comms):
    eth.ContextView(context)
    [comm] = comms
    kept = {name: value for name, value in comm.state.items() if name not in ("_esm", "_css")}
    assert len(json.dumps(kept)) < 50_000
    assert "contracts" in comm.state["first"]
    comm.says(id=1, ask="hello", rev=-1)
    assert "" == comm.state["first"]


def test_hostile_names_stay_text():
    view = eth.ContextView([{"role": "user", "content": HOSTILE}], window=3_000, name=HOSTILE)
    data, _ = bundled(view)
    assert "\u202e" not in json.dumps(data, ensure_ascii=False) + repr(view)
    assert "<img" not in data["text/html"]
    assert view._model_id in json.dumps(data[WIDGET])
    assert re.fullmatch(r"[\w-]+", view._model_id)


def test_messages_need_a_window_and_a_context_has_its_own(context):
    with pytest.raises(Misuse, match="give its tokens, as in window=8_000"):
        eth.BudgetBar(messages(2))
    with pytest.raises(Misuse, match="window belongs to messages"):
        eth.BudgetBar(context, window=8_000)
    with pytest.raises(Misuse, match="a view shows a session"):
        eth.ContextView("contracts")


def test_a_window_may_stand_second_as_everywhere_else(context):
    assert eth.BudgetBar(messages(2), 8_000).snapshot.budget.window.total == 8_000


BAD = [
    ("ContextView", {"tab": "segment"}, "unknown tab 'segment'; did you mean 'segments'?"),
    ("ContextView", {"foo": 3}, "foo is no setting of this view"),
    ("SegmentList", {"segment": 4}, "segment=4 is no text; give one, as in segment='4'"),
    ("CompactionDiff", {"index": 1.5}, "index=1.5 is not the number of a cleanup"),
    ("TimelineView", {"step": 0}, "step=0 is not the number of a step; give one from 1 on"),
    ("TimelineView", {"step": True}, "step=True is not the number of a step"),
    ("WhatIf", {"policy": "leen"}, "lean"),
    ("WhatIf", {"policy": 5}, "policy=5 is not the name of a policy"),
    ("WhatIf", {"second": "leen"}, "lean"),
    ("WhatIf", {"other_window": -5}, "window -5 is too small"),
    ("WhatIf", {"other_window": 5}, "window 5 is too small"),
    ("WhatIf", {"levels": "abc"}, "levels='abc' are not nudge, cleanup and landing"),
    ("WhatIf", {"levels": 5}, "levels=5 are not nudge"),
    ("WhatIf", {"levels": (0.7, 0.8, 0.4)}, "are not nudge"),
    ("WhatIf", {"levels": (900, 800, 700)}, "900"),
    ("Trace", {"text": None}, "text=None is no text"),
]


@pytest.mark.parametrize(("name", "options", "said"), BAD)
def test_what_a_view_cannot_begin_with_is_one_line(context, name, options, said):
    with pytest.raises(Misuse, match=re.escape(said)) as raised:
        getattr(eth, name)(context, **options)
    assert "\n" not in str(raised.value)


def test_a_front_end_that_was_not_built_says_how(context, monkeypatch, tmp_path):
    monkeypatch.undo()
    monkeypatch.setattr(bundle, "files", lambda _: tmp_path)
    with pytest.raises(Missing, match="npm run build:widget"):
        eth.ContextView(context)


# ---- what a host is told


def test_what_changes_is_told_from_the_first_document_on(context, comms):
    eth.ContextView(context)
    [comm] = comms
    comm.view.revision = json.loads(comm.state["first"])["rev"]
    context.append({"role": "user", "content": "one more"})
    assert [comm.view.revision] == [rev for rev, _ in comm.view.frames()]
    assert 0 == comm.view.missed


def test_a_view_that_says_hello_gets_the_whole(context, comms):
    eth.ContextView(context)
    [comm] = comms
    comm.says(id=1, ask="hello", rev=-1)
    assert context.snapshot.to_json()["segments"] == comm.view.document["segments"]


def test_two_widgets_of_one_context_stay_in_step(context, comms):
    eth.ContextView(context), eth.BudgetBar(context)
    for comm in comms:
        comm.says(id=1, ask="hello", rev=-1)
    context.append({"role": "user", "content": "one more"})
    first, second = (comm.view for comm in comms)
    assert first.revision == second.revision
    assert first.document == second.document


def test_a_document_too_large_to_be_stored_is_asked_for(comms):
    context = eth.Context(400_000)
    context.append(messages(700))
    eth.ContextView(context)
    [comm] = comms
    assert "" == comm.state["first"]
    comm.says(id=1, ask="hello", rev=-1)
    assert len(context.snapshot.segments) == len(comm.view.document["segments"])


def test_what_a_thread_may_not_say_the_next_one_says(context, comms):
    eth.ContextView(context)
    [comm] = comms
    comm.says(id=1, ask="hello", rev=-1)
    comm.refuses = True
    context.append({"role": "user", "content": "one more"})
    told = len(comm.view.messages)
    comm.refuses = False
    comm.says(id=2, ask="policies")
    assert told < len(comm.view.messages)
    assert 0 == comm.view.missed
    assert context.snapshot.to_json()["segments"] == comm.view.document["segments"]


# ---- what a view asks


def test_stop_is_answered_in_the_thread_that_brings_it(opened, play, comms):  # noqa: F811
    asked, stopping = threading.Event(), threading.Event()

    @eth.tool(thread=True)
    def waits() -> str:
        """Waits to be stopped."""
        asked.set()
        stopping.wait(20)
        return "late"

    session = play(calls("waits"), {"say": "done"}, tools=[waits])
    eth.ContextView(session)
    run = session.start("Wait.")
    assert asked.wait(20)
    comms[0].says(id=7, ask="stop")
    stopping.set()
    assert "interrupted" == run.wait(20).ending
    [reply] = comms[0].view.replies()
    assert reply["ok"] and 7 == reply["id"]


@pytest.mark.parametrize("message", [None, 3, [], {}, {"ask": 1}, {"ask": "rm", "id": {}}])
def test_whatever_a_host_sends_breaks_nothing(context, comms, message):
    eth.ContextView(context)
    comms[0].handle_msg({"content": {"data": {"method": "custom", "content": message}}, "buffers": []})
    comms[0].says(id=1, ask="hello", rev=-1)
    assert comms[0].view.revision is not None


def test_looking_changes_no_request(tmp_path, opened, comms):  # noqa: F811
    model = script(tmp_path, {"say": "one"}, {"say": "two"})

    def sent(looking):
        session = opened(model, name="looked" if looking else "alone")
        view = eth.ContextView(session) if looking else None
        for task in ("First.", "Second."):
            session.run(task)
            if view is not None:
                for number, ask in enumerate(("hello", "policies", "whatif", "request", "segment", "trace")):
                    comms[-1].says(id=number, ask=ask, rev=-1, step=1, segment="0", text="one")
                bundled(view)
        return [session.request(step) for step in (1, 2)]

    assert sent(looking=False) == sent(looking=True)


# ---- closing


def test_a_closed_view_leaves_nothing_and_still_shows_what_is_static(made):
    assert made._model_id in widget._instances
    said = bundled(made)[0]
    feed = made._feed
    made.close()
    made.close()
    assert 0 == feed.subscribers
    assert not {made._model_id, made.layout._model_id} & set(widget._instances)
    assert {key: value for key, value in said.items() if key != WIDGET} == bundled(made)[0]


def test_a_host_that_closes_the_comm_closes_the_view(context, comms):
    view = eth.ContextView(context)
    comms[0].handle_close({"content": {"data": {}}})
    assert view.closed
    assert 0 == view._feed.subscribers


def test_cells_of_a_session_share_one_view(context):
    view = eth.ContextView.of(context)
    assert view is eth.ContextView.of(context)
    view.close()
    again = eth.ContextView.of(context)
    assert view is not again
    again.close()


# ---- saving


def test_saving_writes_one_page_with_the_texts_that_stand_in_the_window(made, tmp_path):
    path = made.save(tmp_path / "report.html")
    html = path.read_text()
    data = json.loads(re.search(r'<script type="application/json" id="eth-data">(.*?)</script>', html)[1])
    assert made.view == data["view"]
    assert made.options == data["options"]
    assert {item["id"] for item in data["doc"]["segments"]} == set(data["texts"])
    assert html == made.save(tmp_path / "again.html").read_text()


# ---- what a view is told to begin with


@pytest.mark.parametrize(
    ("name", "given", "options"),
    [
        ("ContextView", {"tab": "timeline"}, {"tab": "timeline"}),
        ("SegmentList", {"segment": "0"}, {"segment": "0"}),
        ("CompactionDiff", {"index": 0}, {"index": 0}),
        ("CompactionDiff", {}, {}),
        ("TimelineView", {"step": 2}, {"step": 2}),
        ("Trace", {"text": "ORD-1"}, {"text": "ORD-1"}),
        (
            "WhatIf",
            {"policy": "lean", "other_window": 9_000, "levels": (500, 600, 300), "second": "trim"},
            {"policy": "lean", "window": 9_000, "levels": [500, 600, 300], "second": "trim"},
        ),
    ],
)
def test_a_view_begins_with_what_it_is_given(context, comms, name, given, options):
    getattr(eth, name)(context, **given)
    assert options == comms[0].state["options"]


def test_a_trace_that_is_given_a_text_stores_what_it_found(context):
    assert "ORD-1" in bundled(eth.Trace(context, text="ORD-1"))[0]["text/html"]
    assert "No text is traced yet." in bundled(eth.Trace(context))[0]["text/plain"]


def test_a_cleanup_is_named_by_a_number(context):
    with pytest.raises(Misuse, match="index='last' is not the number of a cleanup"):
        eth.CompactionDiff(context, index="last")
    context.append(messages(30, start=4))
    context.request()
    [diff] = context.snapshot.diffs
    assert str(diff.after) in bundled(eth.CompactionDiff(context))[0]["text/plain"].replace(",", "")
    assert "No cleanup" in bundled(eth.CompactionDiff(context, index=7))[0]["text/plain"]
