"""One call becomes one result, whatever the tool does, and the run goes on."""

import asyncio
import json
import threading

import pytest

import ethang_nb as eth
from ethang_nb.agent.tool import Answer
from ethang_nb.context.pairing import violations
from ethang_nb.errors import Misuse, Unknown
from tests.agent.stage import call, calls, child, kinds, script, texts


def result(play, tool, name, limits=None, **arguments):
    """The text of the one call of `tool` by a session that then completes."""
    session = play(calls(call(name, **arguments)), {"say": "went on"}, tools=[tool], limits=limits)
    run = session.run("Go.")
    assert run.ending == "completed", run.error
    assert () == violations(session.sent)
    (text,) = texts(session, name)
    return text


def test_an_async_tool_runs_in_the_sessions_loop(play):
    async def fetch(what: str) -> str:
        await asyncio.sleep(0)
        return f"fetched {what} on {threading.current_thread().name}"

    assert result(play, fetch, "fetch", what="it") == "fetched it on ethang-t"


def test_a_function_that_gives_back_something_to_await_is_awaited(play):
    async def inner():
        return "awaited"

    def fetch():
        return inner()

    assert result(play, fetch, "fetch") == "awaited"


def test_a_synchronous_tool_runs_in_a_thread_of_its_own(play):
    def where() -> str:
        return threading.current_thread().name

    assert result(play, where, "where") == "ethang-tool-where"


def test_a_tool_of_a_module_does_not_run_on_the_waiting_main_thread_unless_it_asks(play):
    @eth.tool(thread=False)
    def where() -> str:
        return str(threading.current_thread() is threading.main_thread())

    assert result(play, where, "where") == "True"


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (ValueError("no such order"), "[error] fails raised ValueError: no such order"),
        (KeyError("x"), "[error] fails raised KeyError: 'x'"),
        (StopIteration("end"), "[error] fails raised RuntimeError: StopIteration: end"),
        (SystemExit(3), "[error] fails raised RuntimeError: SystemExit: 3"),
        (KeyboardInterrupt(), "[error] fails raised RuntimeError: KeyboardInterrupt: "),
        (TimeoutError("its own"), "[error] fails raised TimeoutError: its own"),
        (asyncio.CancelledError(), "[error] fails raised RuntimeError: CancelledError: "),
        (ValueError("bad \ud83d\x00"), "[error] fails raised ValueError: bad \ufffd\u2400"),
        (eth.EthangError("one line"), "[error] one line"),
    ],
)
@pytest.mark.parametrize("kind", ["sync", "async"])
def test_a_tool_that_raises_is_told_to_the_model_and_the_run_goes_on(play, error, said, kind):
    def fails():
        raise error

    async def fails_async():
        raise error

    text = result(play, fails if kind == "sync" else eth.tool(name="fails")(fails_async), "fails")
    if isinstance(error, asyncio.CancelledError) and kind == "async":
        said = "[error] fails cancelled itself"
    if isinstance(error, StopIteration) and kind == "async":
        said = "[error] fails raised RuntimeError: coroutine raised StopIteration"
    assert text == said


def test_a_long_error_is_cut(play):
    def fails():
        raise ValueError("x" * 100_000)

    assert len(result(play, fails, "fails")) < 600


def test_a_tool_that_takes_too_long_is_let_go(play):
    release = threading.Event()

    def sleeps():
        release.wait(5)

    session = play(calls("sleeps"), {"say": "went on"}, tools=[sleeps], limits=eth.Limits(tool_seconds=0.05))
    assert session.run("Go.").ok
    assert texts(session) == ["[error] sleeps ran longer than 0.05 s and was let go"]
    release.set()


def test_without_a_time_limit_a_tool_may_take_its_time(play):
    def quick():
        return None

    assert result(play, quick, "quick", limits=eth.Limits(tool_seconds=None)) == "done"


def test_an_unknown_tool_is_answered_with_the_nearest_name(play):
    session = play(calls(call("read_fil", path="a")), {"say": "went on"})
    assert session.run("Go.").ok
    assert texts(session) == ["[error] unknown tool 'read_fil'; did you mean 'read_file'?"]


def test_wrong_arguments_are_an_error_result_and_the_run_goes_on(play):
    session = play(
        {"call": [{"name": "list_files", "arguments": '{"folder": docs"}'}]},
        {"call": [call("list_files", folder="docs")], "garbage": True},
        calls(call("list_files", folder=3)),
        {"call": [{"name": "list_files", "arguments": " "}]},
        {"say": "went on"},
    )
    assert session.run("Go.").answer == "went on"
    broken, halved, typed, blank = texts(session)
    assert broken.startswith(
        "[error] arguments of list_files are not JSON: Expecting value: line 1 column 12"
    )
    assert "not JSON" in halved
    assert "3 is not of type 'string'" in typed
    assert blank.startswith("[")
    assert "error" not in blank


def test_a_tool_may_answer_with_an_address_of_its_own(play):
    def look() -> Answer:
        return Answer(text="seen", address="cell:12", again="read")

    session = play(calls("look"), {"say": "done"}, tools=[look])
    session.run("Go.")
    assert session.segments[-2].address == "cell:12"


def test_two_tools_of_one_name_are_refused(opened):
    def read_file():
        """Mine."""

    with pytest.raises(Misuse, match=r"two tools are called 'read_file'; rename one with @tool\(name=…\)"):
        opened(tools=[read_file])


def test_tools_are_chosen_by_name_and_functions_are_added(opened):
    def weigh():
        """Weigh."""

    assert opened(name="a").toolbox.names == (
        "read_file",
        "list_files",
        "read_spill",
        "find_in_record",
        "release_context",
    )
    assert opened(name="b", tools=[weigh]).toolbox.names[-1] == "weigh"
    assert opened(name="c", tools=["list_files", weigh]).toolbox.names == (
        "list_files",
        "read_spill",
        "weigh",
    )


def test_wrong_tools_are_refused_by_name(opened):
    with pytest.raises(Unknown, match="unknown tool 'raed_file'; did you mean 'read_file'"):
        opened(tools=["raed_file"])
    with pytest.raises(Misuse, match="is no tool"):
        opened(tools=[7])


def test_the_catalogue_is_sent_whole_and_in_a_fixed_order(play):
    def zebra():
        """Last."""

    session = play({"say": "done"}, tools=[zebra])
    session.run("Go.")
    tools = json.loads(session.request(1))["tools"]
    assert [item["function"]["name"] for item in tools] == list(session.toolbox.names)
    assert tools[-1]["function"]["description"] == "Last."


def test_parallel_calls_run_in_their_order_and_stay_together(play):
    seen = []

    def note(what: str) -> str:
        seen.append(what)
        return what.upper()

    session = play(calls(*(call("note", what=x) for x in "abc")), {"say": "done"}, tools=[note])
    session.run("Go.")
    assert seen == ["a", "b", "c"]
    assert [message.text for message in session.sent if message.role == "tool"] == ["A", "B", "C"]
    assert kinds(session).count("tool start") == kinds(session).count("tool end") == 3


NOTEBOOK = """
import json, sys, threading
import ethang_nb as eth

def here() -> str:
    print("printed by the cell")
    return str(threading.current_thread() is threading.main_thread())

@eth.tool(thread=True)
def there() -> str:
    return str(threading.current_thread() is threading.main_thread())

def exits() -> str:
    sys.exit(4)

session = eth.Session(sys.argv[2], name="t", window=6000, root=sys.argv[1], tools=[here, there, exits])
first = session.run("Go.")
second = session.start("Go on.").wait(5)
print(json.dumps([first.ending, second.ending]))
"""


def test_a_tool_of_the_notebook_runs_on_the_main_thread_while_a_cell_waits(tmp_path):
    """So that its prints and plots belong to the cell; with no cell waiting it runs in a thread."""
    model = script(tmp_path, calls("here", "there", "exits"), {"say": "done"}, calls("here"), {"say": "done"})
    process = child(NOTEBOOK, tmp_path, model)
    out, err = process.communicate(timeout=20)
    assert process.returncode == 0, err
    assert json.loads(out.splitlines()[-1]) == ["completed", "completed"]
    with eth.open_session("t", tmp_path) as session:
        failed = "[error] exits raised RuntimeError: SystemExit: 4"
        assert texts(session) == ["True", "False", failed, "False"]
