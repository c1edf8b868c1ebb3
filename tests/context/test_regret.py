from __future__ import annotations

import pytest

from ethang_nb.context.messages import Message, ToolCall, ToolResult, assistant, tool, user
from ethang_nb.context.regret import WITHIN, Cut, Regret, Seen, regrets


class Run:
    """A conversation, message by message: every assistant message is one request further."""

    def __init__(self) -> None:
        self.step = 0
        self.seen: list[Seen] = []
        self.cuts: list[Cut] = []
        self._calls = 0

    def says(self, text: str) -> Message:
        return self._came(user(text))

    def answers(self, text: str) -> Message:
        self.step += 1
        return self._came(assistant(text))

    def calls(self, name: str, arguments: str = "{}", address: str = "", text: str = "out") -> list[Message]:
        """A tool turn; returns its messages, as a cut names them."""
        self.step += 1
        self._calls += 1
        call = ToolCall(id=f"c{self._calls}", name=name, arguments=arguments)
        result = ToolResult(call_id=call.id, name=name, text=text, address=address)
        return [self._came(assistant("", [call])), self._came(tool(result))]

    def leaves(self, *messages: Message, address: str = "log://7", segment: str = "3") -> None:
        """A cut at the next request."""
        step = self.step + 1
        self.cuts.append(Cut(step=step, segment=segment, title="t", address=address, messages=messages))

    def idle(self, steps: int) -> None:
        for _ in range(steps):
            self.answers("Going on.")

    def _came(self, message: Message) -> Message:
        self.seen.append(Seen(step=self.step, message=message))
        return message

    @property
    def found(self) -> list[tuple[str, int, int]]:
        """Kind, step and step of the cut of every regret."""
        return [(one.kind, one.step, one.cut) for one in self.regrets]

    @property
    def regrets(self) -> tuple[Regret, ...]:
        return regrets(self.seen, self.cuts)


# ---- calls


def test_a_call_repeated_after_its_result_left_is_linked_to_the_cut_and_to_what_left():
    run = Run()
    run.leaves(*run.calls("list_files", '{"folder": "data", "deep": true}'), address="log://9", segment="4")
    run.calls("list_files", '{"deep":true,"folder":"data"}')
    expected = Regret(step=2, kind="call", cut=2, segment="4", address="log://9", what="list_files data")
    assert (expected,) == run.regrets


def test_a_call_repeated_while_its_result_stands_is_none():
    run = Run()
    run.calls("list_files")
    run.calls("list_files")
    assert [] == run.found


def test_another_call_is_none():
    run = Run()
    run.leaves(*run.calls("grep", '{"pattern": "cap"}'))
    run.calls("grep", '{"pattern": "caps"}')
    run.calls("rg", '{"pattern": "cap"}')
    assert [] == run.found


def test_a_repetition_counts_once_until_it_leaves_again():
    run = Run()
    run.leaves(*run.calls("list_files"))
    again = run.calls("list_files")
    run.calls("list_files")
    run.leaves(*again)
    run.calls("list_files")
    assert [("call", 2, 2), ("call", 4, 4)] == run.found


def test_arguments_that_are_no_json_are_compared_as_they_are():
    run = Run()
    run.leaves(*run.calls("grep", "{'pattern':  'cap'"))
    run.calls("grep", "{'pattern': 'cap'")
    assert [("call", 2, 2)] == run.found


@pytest.mark.parametrize(("idle", "expected"), [(WITHIN, 1), (WITHIN + 1, 0)])
def test_only_what_comes_within_n_steps_of_the_cut_counts(idle, expected):
    run = Run()
    run.leaves(*run.calls("list_files"))
    run.idle(idle)
    run.calls("list_files")
    assert expected == len(run.found)


def test_tests_run_again_after_an_edit_are_no_regret():
    run = Run()
    run.leaves(*run.calls("bash", '{"command": "pytest -q"}'))
    run.calls("edit_file", '{"path": "src/a.py", "new_str": "x"}')
    run.calls("bash", '{"command": "pytest -q"}')
    assert [] == run.found


def test_a_file_read_again_after_it_was_written_is_no_regret():
    run = Run()
    run.leaves(
        *run.calls("read_file", '{"path": "src/a.py"}'), *run.calls("read_file", '{"path": "src/b.py"}')
    )
    run.calls("edit_file", '{"path": "./src/a.py"}')
    run.calls("read_file", '{"path": "src/a.py"}')
    run.calls("read_file", '{"path": "src/b.py"}')
    assert ["read_file src/b.py"] == [one.what for one in run.regrets]


def test_of_parallel_calls_only_those_whose_result_left_can_be_regretted():
    run = Run()
    first, second = ToolCall(id="a", name="ls"), ToolCall(id="b", name="whoami")
    turn = assistant("", [first, second])
    result = tool(ToolResult(call_id="a", name="ls", text="x"))
    run.leaves(turn, result)
    run.calls("whoami")
    run.calls("ls")
    assert ["ls"] == [one.what for one in run.regrets]


# ---- addresses and files read back


@pytest.mark.parametrize("ref", ["log://7", "log://7#L3-9", "spill://0123456789ab"])
def test_an_address_read_back_is_a_regret(ref):
    run = Run()
    run.leaves(*run.calls("run_tests", address="spill://0123456789ab"))
    run.calls("read_spill", f'{{"ref": "{ref}"}}')
    assert [("read", 2, 2)] == run.found


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("read_file", '{"path": "./data/x.txt", "start": 1}'),
        ("grep", '{"pattern": "cap", "path": "data/x.txt"}'),
        ("bash", '{"command": "cd /w && head -20 data/x.txt"}'),
        ("str_replace_editor", '{"command": "view", "path": "data/x.txt"}'),
        ("read_spill", '{"ref": "file:data/x.txt#L1-31@1a2b3c4d"}'),
    ],
)
def test_the_same_file_read_back_in_whatever_way_is_a_regret(name, arguments):
    run = Run()
    run.leaves(*run.calls("read_file", '{"path": "data/x.txt"}', address="file:data/x.txt#L1-31@1a2b3c4d"))
    run.calls(name, arguments)
    assert [("read", 2, 2)] == run.found
    assert "file:data/x.txt#L1-31@1a2b3c4d" == run.regrets[0].address


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("edit_file", '{"path": "data/x.txt"}'),
        ("release_context", '{"addresses": ["log://7", "file:data/x.txt#L1-31@1a2b3c4d"]}'),
        ("bash", '{"command": "rm data/x.txt"}'),
        ("bash", '{"command": "echo 1 > data/x.txt"}'),
        ("bash", '{"command": "python data/x.txt"}'),
        ("str_replace_editor", '{"command": "create", "path": "data/x.txt"}'),
        ("read_file", '{"path": "data/y.txt"}'),
    ],
)
def test_who_names_a_file_without_reading_it_back_regrets_nothing(name, arguments):
    run = Run()
    run.leaves(*run.calls("read_file", '{"path": "data/x.txt"}', address="file:data/x.txt#L1-31@1a2b3c4d"))
    run.calls(name, arguments)
    assert [] == run.found


@pytest.mark.parametrize(
    ("now", "expected"),
    [
        ("file:x.py#L121-240@00000001", 0),  # the next page
        ("file:x.py#L100-240@00000001", 1),
        ("file:x.py#L1-120@1a2b3c4d", 1),
        ("file:x.py#L1-120@00000001", 0),  # another text stands there since
        ("", 1),
    ],
)
def test_a_page_is_read_back_where_its_lines_had_left(now, expected):
    run = Run()
    run.leaves(*run.calls("read_file", '{"path": "x.py"}', address="file:x.py#L1-120@1a2b3c4d"))
    run.calls("read_file", '{"path": "x.py", "n": 2}', address=now)
    assert expected == len(run.found)


# ---- questions and decisions


def test_a_question_asked_and_answered_that_left_is_regretted_when_asked_again():
    run = Run()
    run.says("Find the cap.")
    asked = run.answers("Which customer is affected by the order?")
    run.says("c-100.")
    run.leaves(asked)
    run.answers("One thing first. Which customers are affected by the order?")
    assert [("question", 2, 2)] == run.found
    assert "Which customers are affected by the order?" == run.regrets[0].what


def test_so_is_the_owners():
    run = Run()
    asked = run.says("What is the refund cap of contract 30?")
    run.leaves(asked, run.answers("It is 125,000 EUR."))
    run.answers("Is there anything else?")
    run.says("What is the refund cap of contract 30?")
    assert [("question", 2, 2)] == run.found


@pytest.mark.parametrize("again", ["Shall I go on?", "Which customer pays the order?", "Anything else?"])
def test_another_question_or_one_of_few_words_is_none(again):
    run = Run()
    asked = run.answers("Which customer is affected by the order? Shall I go on? Anything else?")
    run.says("Yes.")
    run.leaves(asked)
    run.answers(again)
    assert [] == run.found


def test_a_question_without_an_answer_is_asked_again_rightly():
    run = Run()
    asked = run.answers("Which customer is affected by the order?")
    run.leaves(asked)
    run.answers("Which customer is affected by the order?")
    assert [] == run.found


def test_a_question_in_tool_output_is_nobodys():
    run = Run()
    run.leaves(*run.calls("read", text="Which customer is affected by the order?"))
    run.calls("look", text="Which customer is affected by the order?")
    assert [] == run.found


@pytest.mark.parametrize(
    ("decision", "later"),
    [
        ("We're going with Postgres.", "Should we use MySQL here?"),
        ("We're going with Postgres.", "Which database should we use?"),
        ("We're going with Postgres.", "I will go with MySQL."),
        ("We decided to cap refunds at 125,000 EUR.", "What cap should refunds have?"),
        ("We decided to cap refunds at 125,000 EUR.", "I decided to cap refunds at 100,000 EUR."),
    ],
)
def test_a_decision_that_left_is_reopened_by_the_agent(decision, later):
    run = Run()
    said = run.says(decision)
    run.answers("Understood.")
    run.leaves(said)
    run.answers(f"Here is what I found. {later}")
    run.answers(later)
    assert [("decision", 2, 2)] == run.found
    assert later == run.regrets[0].what


@pytest.mark.parametrize(
    ("decision", "later"),
    [
        ("We're going with Postgres.", "Is Postgres running?"),
        ("We're going with Postgres.", "Should I restart Postgres?"),
        ("We're going with Postgres.", "As decided, we use Postgres and not MySQL."),
        ("We're going with Postgres.", "I will use Postgres for the orders."),
        ("We're going with Postgres.", "Should I go on?"),
        ("We decided to cap refunds at 125,000 EUR.", "Should I pay 300 EUR for hosting?"),
        ("We decided to cap refunds at 125,000 EUR.", "The refunds are capped at 125,000 EUR."),
        ("Please read the contracts.", "Which contracts should I read?"),
    ],
)
def test_who_follows_a_decision_does_not_reopen_it(decision, later):
    run = Run()
    said = run.says(decision)
    run.answers("Understood.")
    run.leaves(said)
    run.answers(later)
    assert [] == run.found


def test_an_owner_who_must_say_it_again_regrets_it_and_one_who_changes_it_does_not():
    for later, expected in (("Again: we're going with Postgres.", 1), ("We're going with MySQL now.", 0)):
        run = Run()
        said = run.says("We're going with Postgres.")
        run.answers("Understood.")
        run.leaves(said)
        run.answers("Done.")
        run.says(later)
        assert expected == len(run.found), later


# ---- all of them


def test_they_come_in_the_order_of_steps_and_the_same_every_time():
    run = Run()
    one, two = run.calls("a", '{"path": "x.txt"}'), run.calls("b")
    run.leaves(*two)
    run.calls("b")
    run.leaves(*one)
    run.calls("read", '{"file": "x.txt"}')
    run.calls("a", '{"path": "y.txt"}')
    assert [("call", 3, 3), ("read", 4, 4)] == run.found
    assert regrets(run.seen, reversed(run.cuts)) == run.regrets


def test_a_cut_without_repetition_and_an_empty_run_have_none():
    assert () == regrets([], [])
    run = Run()
    run.leaves(*run.calls("list_files"))
    assert [] == run.found


def test_ten_thousand_messages_with_many_readings_of_one_file_come_to_an_end():
    run = Run()
    for number in range(2_500):
        turn = run.calls("read_file", f'{{"path": "big.py", "start": {number}}}')
        run.leaves(*turn, address=f"log://{number}", segment=str(number))
        run.answers("Which part is it now?")
    # A page is read back the step after the one before it left, every time.
    assert 2_499 == len(run.found)
