"""A session without any tool: the word none, its own system text, and a window that tools would not fit into."""

import re

import pytest

import ethang_nb as eth
from ethang_nb.agent.prompt import prompt
from ethang_nb.errors import BadWindow, Misuse
from tests.agent.stage import WINDOW, Answers
from tests.providers.local_model import model_id

SYSTEM, TOOLLESS = prompt("system@v1").text, prompt("toolless@v1").text


def test_none_is_no_tool_at_all(opened):
    session = opened(tools=["none"])
    assert () == session.toolbox.names
    assert 0 == session.live.state.tools
    session.provider = answers = Answers("unused", note="Said.")
    assert "Said." == session.run("Say something.").answer
    assert () == answers.requests[0].tools
    assert ["Say something."] == [message.text for message in session.sent if message.role == "user"]


def test_empty_is_still_all_of_them(opened):
    assert 5 == len(opened(tools=[]).toolbox.names)


def test_the_text_of_a_session_without_tools_names_none(opened):
    session = opened(tools=["none"])
    assert TOOLLESS == session.live.system
    named = [*opened(name="all").toolbox.names, "tools", "search"]
    assert [] == [word for word in named if word in TOOLLESS]
    assert "You are brief." == opened(name="own", tools=["none"], system="You are brief.").live.system


def test_a_session_without_tools_goes_on_without_them(opened, tmp_path):
    opened(tools=["none"]).close()
    again = eth.open_session("t", tmp_path)
    assert ((), TOOLLESS, ()) == (again.toolbox.names, again.live.system, again.drift)
    again.close()
    with_some = eth.open_session("t", tmp_path, tools=["read_file"])
    assert (("read_file", "read_spill"), SYSTEM) == (with_some.toolbox.names, with_some.live.system)
    with_some.close()


@pytest.mark.parametrize("tools", [["none", "read_file"], ["read_file", "none"], ["none", len]])
def test_none_stands_alone(opened, tools):
    with pytest.raises(Misuse, match="tools none stands for no tool at all; give it alone, or leave it out"):
        opened(tools=tools)


def test_no_tool_can_be_called_none(opened):
    def none() -> str:
        """Does nothing."""
        return ""

    with pytest.raises(Misuse, match=re.escape("rename it with @tool(name=…)")):
        opened(tools=[none])


def test_a_window_too_small_for_tools_names_what_helps(opened):
    with pytest.raises(BadWindow) as caught:
        opened(window=512)
    said = str(caught.value)
    assert "take a larger window or fewer tools" in said
    assert all(
        way in said for way in ('tools=["read_file"]', "--tools read_file", 'tools=["none"]', "--tools none")
    )
    with pytest.raises(BadWindow, match=r"take a larger window or a shorter system text$"):
        opened(window=512, tools=["none"], system="word " * 500)
    assert opened(window=512, tools=["none"]).live.state.usable > 0
    assert WINDOW > 512


def test_a_real_model_answers_in_a_window_of_512(opened):
    session = opened(model_id(tools=False, ctx=512), window=None, tools=["none"], params={"temperature": 0})
    assert 512 == session.window.total
    first = session.run("Say hello.")
    assert first.ok, first.error
    assert first.answer
    assert () == first.notices, "nothing that a template leaves out is sent, so nothing is said of it"
    assert session.run("Say only: yes.").ok


def test_tools_that_the_template_drops_are_no_request_that_was_cut(opened):
    """The first run of the README: 190 of 620 tokens were read, the rest were tools."""
    session = opened(model_id(tools=False, ctx=4_096), window=None, params={"temperature": 0})
    run = session.run("Say hello")
    sent = [event.data["tokens"] for event in session.recorded if event.kind == "request"]
    assert run.tokens_in * 2 < sent[0], "far fewer were read than were sent"
    said = (*run.notices, *session.snapshot.notices)
    assert any("leaves tools out" in line for line in said)
    assert [] == [line for line in said if "cut the request" in line or "shortened" in line]
