import asyncio
import contextlib
import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from ethang_nb.agent.opening import open_session
from ethang_nb.agent.session import Session
from ethang_nb.cli.demo import UNDER_UV, _notebook_command
from ethang_nb.cli.main import main
from ethang_nb.context.messages import ToolCall
from ethang_nb.lessons import contracts, modules
from ethang_nb.store.record import Record
from ethang_nb.views.words import WORDS


class Demo:
    """One call of `ethang-nb demo`: its code, its output and its folder."""

    def __init__(self, folder, *words):
        self.folder = folder
        self.words = ("demo", "--folder", str(folder), *words)
        self.code, self.out = None, ""

    def here(self):
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            self.code = main(self.words)
        self.out = out.getvalue()
        return self

    def outside(self):
        """In a process of its own, with another order of sets and dicts of sets than here."""
        done = subprocess.run(
            [
                sys.executable,
                "-c",
                "from ethang_nb.cli.main import main; raise SystemExit(main())",
                *self.words,
            ],
            env={**os.environ, "PYTHONHASHSEED": "7", "PYTHONIOENCODING": "utf-8"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
        assert "" == done.stderr
        self.code, self.out = done.returncode, done.stdout
        return self

    @contextlib.contextmanager
    def _home(self):
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("ETHANG_HOME", str(self.folder / ".ethang"))
            yield

    def events(self, kind):
        with self._home(), Record.open(self.folder, "demo", write=False) as record:
            return [event.data for event in record.events(kinds=(kind,))]

    def requests(self):
        """The bytes of every request of the work, in order."""
        with self._home(), Record.open(self.folder, "demo", write=False) as record:
            return [record.body(event.data["pieces"]) for event in record.events(kinds=("request",))]

    def snapshot(self):
        with self._home(), open_session("demo", self.folder) as session:
            return session.snapshot

    def read_again(self, addresses):
        """What the agent's own tool answers for each address."""

        async def answers(session):
            calls = [
                ToolCall(id="x", name="read_spill", arguments=json.dumps({"ref": one})) for one in addresses
            ]
            return [(await session.toolbox.answer(call, session.main)).text for call in calls]

        with self._home(), open_session("demo", self.folder) as session:
            return dict(zip(addresses, asyncio.run(answers(session)), strict=True))

    def fills(self):
        return [data["fill"] for data in self.events("request")]


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    return Demo(tmp_path_factory.mktemp("demo")).here()


@pytest.fixture(scope="module")
def real(tmp_path_factory):
    return Demo(tmp_path_factory.mktemp("real"), "--real").here()


def test_completes_with_code_0_and_names_order_and_cap_with_their_place(demo):
    assert 0 == demo.code
    answer = demo.out.split("\nAnswer\n")[1].split("\n\n")[0]
    said = " ".join(answer.split())
    assert "PO-7719" in said
    assert "48,250 euros" in said
    assert "file:data/contracts/contract_03.txt#L28)" in said


def test_reads_every_document_once_and_the_forbidden_one_never(demo):
    paths = [data["arguments"] for data in demo.events("tool start") if data["name"] == "read_file"]
    numbers = [int(re.search(r"contract_(\d+)", path)[1]) for path in paths]
    assert [number for number in range(1, 31) if number != 17] == numbers
    assert "read     29 of 30 files in 29 calls; not opened, as told: contract_17.txt" in demo.out
    assert "Left unread, as told: data/contracts/contract_17.txt." in demo.out


def test_meets_nudges_and_cleanups_and_never_fills_the_window_over(demo):
    timeline = demo.snapshot().timeline
    assert any("nudge" in row.events for row in timeline)
    assert any(row.before is not None for row in timeline)
    assert max(demo.fills()) <= 1000


def test_every_lost_fact_stands_at_its_address(demo):
    lost = [fact for diff in demo.snapshot().diffs for fact in diff.of("lost")]
    assert len(lost) > 100
    texts = demo.read_again(sorted({fact.where for fact in lost}))
    assert [] == [fact for fact in lost if fact.text not in texts[fact.where]]


def test_tells_a_line_a_step_with_tokens_and_fill(demo):
    timeline = demo.snapshot().timeline
    for row in timeline:
        fill = row.fill if row.before is None else row.before
        held = r"[\d,]+" if row.before is not None else f"{row.tokens:,}"
        assert re.search(
            rf"^ +{row.step} +{held} +{fill // 10}\.{fill % 10} % [█▉▊▋▌▍▎▏▶·]+  \S", demo.out, re.M
        )


def test_shows_the_plan_of_the_first_cleanup_in_full_and_later_ones_in_a_line(demo):
    first, *later = [diff for diff in demo.snapshot().diffs if diff.outcome == "cleanup"]
    shown = demo.out.split("its plan:")[1].split("segments stay")[0]
    assert all(item.address in shown for item in first.left)
    assert "leaves: older tool turn; read again at" in shown
    assert 1 == demo.out.count("its plan:")
    assert len(later) + 1 == len(re.findall(r"^ +[\d,]+ +[\d.]+ % .*cleanup: \d+ left", demo.out, re.M))


def test_marks_what_happened_by_word(demo):
    steps = [line for line in demo.out.splitlines() if re.match(r" +\d* *[\d,]+ +[\d.]+ % ", line)]
    assert all(any(word in line for line in steps) for word in ("nudge", "release:", "cleanup:"))


def test_sums_up_budget_last_cleanup_totals_and_ways_on(demo):
    snapshot = demo.snapshot()
    last = snapshot.diffs[-1]
    for said in (
        "Budget at the end",
        "^cleanup 80.0 %",
        "tool output",
        f"Cleanup at step {last.step}:",
        f"Facts: {len(last.of('kept'))} kept, {len(last.of('lost'))} lost, 0 invented. Each lost one has its address.",
        f"{len(snapshot.timeline)} steps, ",
        " ".join(diff.digest[:8] for diff in snapshot.diffs),
        str(demo.folder / "report.html"),
        "jupyter lab",
    ):
        assert said in demo.out


def test_fits_a_screen_of_80_columns_and_some_130_lines(demo):
    lines = demo.out.replace(str(demo.folder), "/tmp/ethang-demo-12345678").splitlines()
    assert [] == [line for line in lines if len(line) > 80 and "jupyter lab" not in line]
    assert len(lines) <= 132
    assert "\x1b" not in demo.out


def test_counts_what_left_alike_in_the_step_and_in_the_cleanup(demo):
    last = demo.snapshot().diffs[-1]
    segments = sum(item.how != "remove" for item in last.left)
    assert segments == len(last.left) - 1
    assert f"cleanup: {segments} left and the nudge, note: {last.note_tokens:,} tokens" in demo.out
    assert f"Left the window: {segments} segments and the nudge, " in demo.out


def test_explains_its_words_in_a_line_each(demo):
    assert len(WORDS) <= 6
    assert all(f"\n  {word} " in demo.out for word in WORDS)


def test_counts_a_file_as_read_only_when_its_end_was(tmp_path):
    listing = [{"name": "read_file", "arguments": {"path": "data/contracts/contract_01.txt", "end": 3}}]
    whole = [{"name": "read_file", "arguments": {"path": "data/contracts/contract_02.txt"}}]
    found = scripted(tmp_path, {"call": listing}, {"call": whole}, {"say": "done"})
    said = " ".join(found.out.split("  read  ")[1].split("  nudges")[0].split())
    assert said.startswith("1 of 30 files in 2 calls; only in part: contract_01.txt; not opened, as told:")
    assert said.endswith("not opened: contract_03.txt, contract_04.txt, contract_05.txt and 24 more")


def test_says_what_was_left_unread_as_told_whatever_the_window(tmp_path):
    found = Demo(tmp_path / "demo", "--window", "4000").here()
    assert "not opened, as told: contract_17.txt" in " ".join(found.out.split())


def test_the_steps_can_be_limited(tmp_path):
    found = Demo(tmp_path / "demo", "--steps", "5").here()
    assert 1 == found.code
    assert "step limit: 5 steps taken" in found.out


@pytest.mark.parametrize("under_uv", [True, False])
def test_names_the_notebook_by_a_command_that_works_where_it_was_started(monkeypatch, under_uv):
    monkeypatch.delenv(UNDER_UV, raising=False)
    if under_uv:
        monkeypatch.setenv(UNDER_UV, "1")
    command = _notebook_command()
    assert under_uv == ("uv run jupyter lab" in command)
    assert command.endswith("jupyter lab notebooks/01_first_session.ipynb")


def test_says_that_the_reader_is_no_language_model(demo):
    assert "reader (rules, not a language model)" in demo.out.split("step tokens")[0]


def test_writes_a_report_that_needs_nothing_else(demo):
    page = (demo.folder / "report.html").read_text(encoding="utf-8")
    assert "PO-7719" in page
    assert not re.search(r"(?:src|href)=\"(?!#)|url\((?!\"data:)|<script", page)


def test_leaves_the_record_of_the_person_alone(demo, tmp_path, monkeypatch):
    monkeypatch.setenv("ETHANG_HOME", str(tmp_path / "mine"))
    again = Demo(tmp_path / "again", "--window", "200000").here()
    assert 0 == again.code
    assert not (tmp_path / "mine").exists()
    assert str(tmp_path / "mine") == os.environ["ETHANG_HOME"]


def test_is_the_same_twice_request_by_request(demo, tmp_path):
    again = Demo(tmp_path / "again").outside()
    assert 0 == again.code
    assert demo.requests() == again.requests()
    assert [diff.digest for diff in demo.snapshot().diffs] == [diff.digest for diff in again.snapshot().diffs]
    assert demo.out.replace(str(demo.folder), "") == again.out.replace(str(again.folder), "")


@pytest.mark.parametrize(
    ("words", "cleanups"),
    [
        (("--policy", "pressure"), True),
        (("--window", "4,000"), True),
        (("--window", "16000"), False),
        (("--window", "200000"), False),
    ],
)
def test_other_policies_and_windows_end_named_and_never_over_hard(words, cleanups, tmp_path):
    found = Demo(tmp_path / "demo", *words).here()
    assert 0 == found.code
    assert "PO-7719" in found.out
    assert max(found.fills()) <= 1000
    assert cleanups == ("The last cleanup" in found.out)
    assert cleanups != ("No cleanup took place" in found.out)


def test_a_run_that_gets_stuck_is_named_with_code_1(tmp_path):
    found = Demo(tmp_path / "demo", "--window", "1100").here()
    assert 1 == found.code
    assert "\nNo answer\n  stuck: " in found.out
    assert max(found.fills()) <= 1000


def scripted(tmp_path, *turns):
    path = tmp_path / "turns.yaml"
    path.write_text(json.dumps({"turns": turns}))
    return Demo(tmp_path / "demo", "--model", f"script:{path}").here()


def test_a_run_whose_model_fails_is_named_with_code_1(tmp_path):
    listing = {"call": [{"name": "list_files", "arguments": {"folder": "data/contracts"}}]}
    found = scripted(tmp_path, listing, {"fail": "the server is on fire"})
    assert 1 == found.code
    assert "provider error" in found.out.split("Budget at the end")[0]
    assert "the server is on fire" in found.out
    assert "read     0 of 30 files" in found.out
    assert (found.folder / "report.html").exists()


def test_what_a_model_says_does_not_drive_the_terminal(tmp_path):
    found = scripted(tmp_path, {"say": "done \x1b[2J\u202e"})
    assert 0 == found.code
    assert "done \\x1b[2J\\u202e" in found.out


def test_real_reads_the_standard_library_as_it_is_installed(real):
    for name in modules.NAMES:
        installed = Path(sys.modules.get(name, __import__(name)).__file__).read_text(encoding="utf-8")
        assert installed == (real.folder / "lib" / f"{name}.py").read_text(encoding="utf-8")


def test_real_answers_from_a_file_that_left_the_window(real):
    assert 0 == real.code
    answer = real.out.split("\nAnswer\n")[1]
    line = int(re.search(r"file:lib/shlex\.py#L(\d+)", answer)[1])
    assert 'raise ValueError("No closing quotation")' in answer
    assert "No closing quotation" in (real.folder / "lib" / "shlex.py").read_text().split("\n")[line - 1]


def test_real_shows_nudge_and_cleanup_within_60_steps(real):
    timeline = real.snapshot().timeline
    assert len(timeline) <= 60
    assert any("nudge" in row.events for row in timeline)
    assert any(row.before is not None for row in timeline)
    assert max(real.fills()) <= 1000
    assert "read     7 of 7 files" in real.out


def test_the_package_does_not_know_the_answer():
    """The reader finds it; nothing but the generator of the documents holds it."""
    package = Path(contracts.__file__).parents[1]
    holding = [path for path in package.rglob("*.py") if "PO-7719" in path.read_text(encoding="utf-8")]
    assert [Path(contracts.__file__)] == holding


def test_a_watcher_sees_what_the_demo_prints_and_changes_nothing(demo, tmp_path):
    """The same work without anyone looking sends the same bytes."""
    contracts.LESSON.write(tmp_path)
    with Session("reader", name="demo", window=6_000, root=tmp_path) as session:
        run = session.run(contracts.LESSON.task)
        assert demo.requests() == [session.request(step) for step in range(1, run.steps + 1)]
