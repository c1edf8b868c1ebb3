"""In a real kernel: a cell end to end, ■, braces, help, Tab, and what a restart finds."""

import time

from ethang_nb.agent.session import GRACE

SAY = "%%ethang --model script:say.yaml --session s"


def test_the_reader_runs_end_to_end(kernel):
    reply = kernel.run(
        "%%ethang --window 6000\nRead every file in contracts and tell me which order is affected."
    )
    assert ["display_data", "execute_result"] == [kind for kind, _ in reply.outputs]
    live, text = (text for _, text in reply.outputs)
    assert "ContextView(audit)" == live
    assert text.startswith("Completed: ")
    assert "ORD-47" in text
    assert "<details" in reply.html[1]
    assert "Session audit" in kernel.run("%ethang status").text
    assert ".ethang/ethang.db" in kernel.run("%ethang status").text


def test_interrupting_ends_a_cell_at_once_and_loses_nothing(kernel):
    cell = "%%ethang --session stopped --model script:slow.yaml\ngo"
    reply = kernel.run(cell, interrupts=[lambda: kernel.recorded("stopped", "request") == 2])
    assert reply.after < GRACE
    assert ["display_data", "execute_result"] == [kind for kind, _ in reply.outputs]
    assert reply.outputs[1][1].startswith("Interrupted: 2 steps")
    said = kernel.run(
        "[event.kind for event in __import__('ethang_nb').open_session('stopped').recorded][-3:]"
    ).text
    assert "'run end']" in said
    assert "Completed: 1 step" in kernel.run("%%ethang --session stopped\ngo on").text


def test_a_second_interrupt_lets_go_at_once(kernel):
    kernel.run("import time\nasync def boom(text: str) -> str:\n    time.sleep(4)\n    return 'late'")
    cell = "%%ethang --session hangs --model script:boom.yaml --tools boom\ngo"

    first = []

    def started():
        if kernel.recorded("hangs", "tool start") == 1:
            first.append(time.monotonic())
        return first

    reply = kernel.run(cell, interrupts=[started, lambda: time.monotonic() - first[0] > 0.7])
    assert "Running: " in reply.text
    assert "SessionBusy: " in kernel.run("%%ethang --session hangs\nmore").outputs[0][1]
    assert (
        "interrupted" in kernel.run("__import__('ethang_nb').open_session('hangs')._run.wait(10).ending").text
    )
    assert "Completed: " in kernel.run("%%ethang --session hangs\nmore").text


def test_a_tool_of_the_notebook_prints_into_its_cell_and_stops_with_it(kernel):
    kernel.run(
        "import time\ndef boom(text: str) -> str:\n    print('working')\n    time.sleep(20)\n    return 'late'"
    )
    cell = "%%ethang --session prints --model script:boom.yaml --tools boom\ngo"
    reply = kernel.run(cell, interrupts=[lambda: kernel.recorded("prints", "tool start") == 1])
    assert reply.after < GRACE
    assert ["display_data", "stream", "execute_result"] == [kind for kind, _ in reply.outputs]
    assert "Interrupted: " in reply.text


def test_a_fault_is_one_line(kernel):
    assert [("error", "Unknown: unknown policy 'presure'; did you mean 'pressure'?")] == kernel.run(
        "%%ethang --policy presure\ngo"
    ).outputs


def test_braces_reach_the_model(kernel):
    kernel.run("x = 'wrong'")
    kernel.run(f"{SAY}\nUse {{x}} and $x;")
    assert "Use {x} and $x" in kernel.run("%ethang request").text


def test_help_and_question_mark_are_one_text(kernel):
    text = kernel.run("%%ethang -h").text
    assert text == kernel.run("%ethang --help").text
    assert "Three examples" in text


def test_tab_offers_in_a_kernel(kernel):
    assert (["status"], "sta") == kernel.complete("%ethang sta")
    assert (["--window"], "--wi") == kernel.complete("%%ethang --wi")


def test_await_works_beside_the_magics(kernel):
    code = (
        "import ethang_nb as eth\nwith eth.Session('script:say.yaml', name='awaited') as s:\n"
        "    found = await s.arun('say')\nfound.answer"
    )
    assert "'said'" == kernel.run(code).text


def test_unloading_takes_the_magics_away(kernel):
    kernel.run("%unload_ext ethang_nb")
    assert "not found" in kernel.run("%ethang status").text
    kernel.run("%load_ext ethang_nb")
    assert "Session audit" in kernel.run("%ethang status").text


def test_a_killed_kernel_loses_nothing(kernel):
    """Last in this file: the others share the kernel."""
    kernel.run("%%ethang --session killed --model script:slow.yaml --detach\ngo")
    wait = "import time, ethang_nb as eth\ns = eth.open_session('killed')\nwhile s.live.step < 2: time.sleep(.05)"
    kernel.run(wait)
    kernel.kill()
    assert [] == kernel.run("%load_ext ethang_nb").outputs
    reply = kernel.run("%%ethang --session killed --model script:say.yaml\ngo on")
    assert ["stream", "display_data", "execute_result"] == [kind for kind, _ in reply.outputs]
    assert reply.text.startswith("Session killed goes on after 2 steps that an earlier kernel recorded")
    assert "Completed: 1 step" in reply.text
    asked = "[m.text for m in __import__('ethang_nb').open_session('killed').sent if m.role == 'user']"
    assert "['go', 'go on']" == kernel.run(asked).text
    assert "Completed: " in kernel.run("%%ethang --session audit\nTell me which order is affected.").text
