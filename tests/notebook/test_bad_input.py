"""Bad input: one line that names the value and the next step; the record stays whole and the next cell works."""

import json
import subprocess
import sys

import pytest

from ethang_nb.agent.opening import find_open
from ethang_nb.errors import EthangError
from ethang_nb.notebook.sessions import NotebookSessions

GOOD = "%%ethang --model script:say.yaml\nsay"

CELLS = [
    ("%%ethang\n   \n", "EmptyTask: the task is empty"),
    ("%%ethang", "EmptyTask: the task is empty"),
    ("%%ethang --model reder\ngo", "Unknown: unknown model 'reder'; did you mean 'reader'?"),
    (
        "%%ethang --model reader?folow=no\ngo",
        "Unknown: unknown option of reader 'folow'; did you mean 'follow'?",
    ),
    ("%%ethang --model script:none.yaml\ngo", "PathRefused: script none.yaml cannot be read"),
    ("%%ethang --model ''\ngo", "Misuse: model is ''"),
    ("%%ethang --window x\ngo", "BadWindow: window is 'x'; give a whole number of tokens from 256"),
    ("%%ethang --window 700\ngo", "BadWindow: window 700 leaves 560 usable tokens, and the fixed parts take"),
    ("%%ethang --window\ngo", "Misuse: --window needs a value; write --window TOKENS"),
    ("%%ethang --policy presure\ngo", "Unknown: unknown policy 'presure'; did you mean 'pressure'?"),
    ("%%ethang --tools read_fil\ngo", "Unknown: unknown tool 'read_fil'; did you mean 'read_file'?"),
    ("%%ethang --system none.txt\ngo", "PathRefused: --system 'none.txt' cannot be read: No such file"),
    ("%%ethang --project contracts\ngo", "PathRefused: --project 'contracts' cannot be read: "),
    ("%%ethang --system 'a\0b'\ngo", "PathRefused: --system "),
    (
        "%%ethang --model openai:gpt-4o\ngo",
        "Unknown: unknown model 'openai:gpt-4o'; did you mean 'openai/gpt-4o'?",
    ),
    ("%%ethang --tools none,read_file\ngo", "Misuse: tools none stands for no tool at all; give it alone"),
    ("%%ethang --tools ,\ngo", "Misuse: --tools ',' names no tool; give names"),
    ("%%ethang --steps 0\ngo", "Misuse: --steps is '0'; give a whole number of steps from 1"),
    ("%%ethang --bogus\ngo", "Unknown: unknown flag '--bogus'; known: --session, --new, "),
    (
        f"%%ethang --session {'n' * 300}\ngo",
        f"Misuse: --session '{'n' * 40}…' has 300 characters; give at most 100",
    ),
    (
        "%%ethang --session 'a\x07b'\ngo",
        "Misuse: --session 'a\\x07b' holds a character that cannot be printed",
    ),
    (f"%ethang status --session {'n' * 300}", f"Unknown: unknown session '{'n' * 59}…'"),
    (
        "%ethang --session nope context",
        "Misuse: '--session' stands before the subcommand; write %ethang SUBC",
    ),
    ("%ethang stop --session nobody", "Unknown: unknown session 'nobody'"),
    ("%%ethang --session ' '\ngo", "Misuse: --session is blank"),
    ("%%ethang --session a --new\ngo", "Misuse: --session and --new name two sessions"),
    ("%%ethang --raise --detach\ngo", "Misuse: --raise and --detach: a detached run has no ending yet"),
    ("%%ethang --fresh\ngo", "Unknown: unknown flag '--fresh'"),
    ("%%ethang -o 1a\ngo", "Misuse: -o '1a' is no name of a variable"),
    ("%%ethang status\ngo", "Misuse: status is a subcommand of the line magic; write %ethang status"),
    ("%%ethang Read it all\ngo", "Misuse: 'Read' is no flag; the task stands in the lines below"),
    ("%%ethang --session 'a\ngo", "Misuse: the line ends inside a quote"),
    ("%%ethang\n" + "long " * 100_000, "Misuse: this message takes "),
    ("%ethang stauts", "Unknown: unknown subcommand 'stauts'; did you mean 'status'?"),
    ("%ethang zzz", "Unknown: unknown subcommand 'zzz'; known: status, context, "),
    ("%ethang 'x", "Misuse: the line ends inside a quote"),
    ("%ethang status --session nobody", "Unknown: unknown session 'nobody'"),
    ("%ethang status more", "Misuse: %ethang status does not take 'more'"),
    ("%ethang request x", "Misuse: 'x' is not the number of a step"),
    ("%ethang request 99", "NoSuchAddress: no request of step 99 in session audit"),
    ("%ethang unpin 7", "Misuse: no pin 7; pins now: none"),
    ("%ethang unpin", "Misuse: %ethang unpin needs ID"),
    ("%ethang pin", "Misuse: %ethang pin needs TEXT"),
    ("%ethang pin ''", "Misuse: "),
    ("%ethang help nothing", "Unknown: unknown subcommand 'nothing'"),
]


@pytest.mark.parametrize(("source", "said"), CELLS, ids=[source[:32] for source, _ in CELLS])
def test_it_is_one_line_and_the_next_cell_works(notebook, source, said):
    notebook.run(GOOD)
    shown = notebook.fails(source)
    assert isinstance(shown.error, EthangError)
    assert shown.line().startswith(said)
    assert len(shown.line()) < 400
    assert notebook.run(GOOD).value.ok
    assert () == find_open("audit").drift


@pytest.mark.parametrize("source", [source for source, _ in CELLS if source.startswith("%%")])
def test_the_first_cell_of_a_notebook_may_be_wrong(notebook, source):
    notebook.fails(source)
    assert notebook.run(GOOD).value.ok


@pytest.mark.parametrize("text", ["a\0b", "half \ud83d of it", "\ufeff\u202e\u200b", "\x1b[31mred"])
def test_strange_characters_are_a_task_like_any_other(notebook, text):
    shown = notebook.run(f"%%ethang --model script:say.yaml\nsay {text}")
    assert shown.value.ok
    data, _ = notebook.shell.display_formatter.format(shown.value)
    raw = str(notebook.run("%ethang request --raw").value)
    for form in (
        raw,
        *(
            found if isinstance(found, str) else json.dumps(found, ensure_ascii=False)
            for found in data.values()
        ),
        str(notebook.run("%ethang context").value),
        str(notebook.run("%ethang request").value),
    ):
        form.encode()
        assert not {"\0", "\x1b", "\u202e"} & set(form)


def test_a_missing_folder_is_told_by_the_answer(notebook):
    run = notebook.run("%%ethang\nRead every file in nowhere and tell me which order is affected.").value
    assert "completed" == run.ending
    assert "nowhere" in run.answer


def test_a_file_of_5_mb_comes_in_pages(notebook):
    (notebook.folder / "large.txt").write_text("The cap of ORD-5 is 300 EUR. " + "x" * 5_000_000)
    run = notebook.run("%%ethang --window 6000\nRead large.txt and tell me what the cap of ORD-5 is.").value
    assert "300 EUR" in run.answer
    assert len(str(run)) < 10_000
    assert max(row.fill for row in run.snapshot.timeline) <= 1000


def test_a_file_with_nul_bytes_is_no_text(notebook):
    (notebook.folder / "data.bin").write_bytes(b"\0\1\2" * 100)
    run = notebook.run("%%ethang\nRead data.bin and tell me what the cap is.").value
    assert "could not be read" in run.answer.lower()


def test_a_tool_that_raises_is_told_to_the_model(notebook):
    notebook.run("def boom(text: str) -> str:\n    raise ZeroDivisionError('on purpose')")
    run = notebook.run("%%ethang --model script:boom.yaml --tools boom\ngo").value
    assert "it went wrong" == run.answer
    results = [message.text for message in find_open("audit").sent if message.role == "tool"]
    assert ["[error] boom raised ZeroDivisionError: on purpose"] == results


def test_a_session_that_another_process_writes_is_named(notebook):
    code = "import ethang_nb as eth; eth.Session('reader', name='audit'); print('open', flush=True); input()"
    command = [sys.executable, "-c", code]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        other.stdout.readline()
        said = notebook.fails("%%ethang\ngo").line()
        other.communicate("\n")
    assert said.startswith("SessionHeld: session 'audit' is being written by process ")
    assert notebook.run(GOOD).value.ok


def test_an_interrupt_before_the_run_is_one_line_too(notebook, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(NotebookSessions, "for_cell", interrupted)
        said = notebook.fails("%%ethang\ngo").line()
    assert said.startswith("KeyboardInterrupt: stopped before the run began")
    assert notebook.run(GOOD).value.ok
