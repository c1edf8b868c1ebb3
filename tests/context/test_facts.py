from __future__ import annotations

import pytest

from ethang_nb.context.facts import KINDS, facts

# Text, the facts in it as kind:string, in order.
EXAMPLES = [
    # identifiers
    ("the order is ORD-88421 today", ["identifier:ORD-88421"]),
    ("read contract_03 and c-100", ["identifier:contract_03", "identifier:c-100"]),
    ("case 2024-0815, ticket #1234", ["identifier:2024-0815", "identifier:#1234"]),
    ("ask a.lee+pay@example.org at 10.0.0.7:8080", ["identifier:a.lee+pay@example.org", "identifier:10.0.0.7:8080"]),
    ("set order_cap before getOrder runs", ["identifier:order_cap", "identifier:getOrder"]),
    ("rustc says E0382 in `compare`", ["identifier:E0382", "identifier:compare"]),
    ("受影响的订单是ORD-88421，请查", ["identifier:ORD-88421"]),
    ("the id is 0xff00 or 550e8400-e29b", ["identifier:0xff00", "identifier:550e8400-e29b"]),
    # numbers
    ("the cap is 125,000 and 4711", ["number:125,000", "number:4711"]),
    ("growth of 12.5 % is high", ["number:12.5 %"]),
    ("waits 40 ms, then 5 minutes", ["number:40 ms", "number:5 minutes"]),
    ("a window of 200K and a 30-day notice", ["number:200K", "number:30-day"]),
    ("cap = 7", ["number:cap = 7"]),
    ('{"retries": 3, "id": 982374}', ["number:retries: 3", "number:982374"]),
    ("the limit is 12.", ["number:limit is 12"]),
    ("rows 100-250 of it", ["number:100-250"]),
    ("ORD,1250,300", ["number:1250", "number:300"]),
    # dates
    ("due 2026-03-01 at noon", ["date:2026-03-01"]),
    ("at 2026-03-01T10:00:00Z or 2026/03/02", ["date:2026-03-01T10:00:00Z", "date:2026/03/02"]),
    ("am 01.03.2026, on 03/15/2026", ["date:01.03.2026", "date:03/15/2026"]),
    ("by 1 March 2026 or March 2nd, 2026", ["date:1 March 2026", "date:March 2nd, 2026"]),
    ("in Q3 2026, 2026-W12, May 2026", ["date:Q3 2026", "date:2026-W12", "date:May 2026"]),
    ("the call is at 14:30 UTC", ["date:14:30 UTC"]),
    # paths
    ("see src/pay/core.py for it.", ["path:src/pay/core.py"]),
    ("tests/test_a.py:42:7 fails", ["path:tests/test_a.py"]),
    ("don't touch migrations/ please", ["path:migrations/"]),
    ("edit /etc/hosts, ~/.ssh/config and ./run.sh", ["path:/etc/hosts", "path:~/.ssh/config", "path:./run.sh"]),
    ("open caps.csv, Makefile and .env", ["path:caps.csv", "path:Makefile", "path:.env"]),
    (r"in C:\data\caps.csv or \\server\share\x", [r"path:C:\data\caps.csv", r"path:\\server\share\x"]),
    ("GET https://example.org/a?b=1&c=2.", ["path:https://example.org/a?b=1&c=2"]),
    # commands
    ("run `pytest -q tests` again", ["command:pytest -q tests"]),
    ("first\n$ git commit -m 'x'\ndone", ["command:git commit -m 'x'"]),
    ("```bash\n# setup\nuv sync\n$ uv run pytest\n```\nORD-1", ["command:uv sync", "command:uv run pytest"]),
    # quoted errors
    ("it said ValueError: bad cap", ["error:ValueError: bad cap"]),
    ("Traceback\n  File\nhttpx.ReadTimeoutError: timed out. ", ["error:httpx.ReadTimeoutError: timed out"]),
    ("error: cannot open the cap table", ["error:error: cannot open the cap table"]),
    ("a.ts(1): error TS2345: no overload", ["path:a.ts", "error:error TS2345: no overload"]),
    ('it failed with "no such order"', ["error:no such order"]),
    ('{"error": "connection refused by peer"}', ["error:connection refused by peer"]),
    ("ended with exit code 137, then HTTP 503", ["error:exit code 137", "error:HTTP 503"]),
    ("404 Not Found, ENOENT, SIGKILL", ["error:404 Not Found", "error:ENOENT", "error:SIGKILL"]),
    # amounts
    ("the cap is 125,000 EUR", ["amount:125,000 EUR"]),
    ("$5, €1.2 million and USD 30", ["amount:$5", "amount:€1.2 million", "amount:USD 30"]),
    ("20 dollars, 1.250,50 €", ["amount:20 dollars", "amount:1.250,50 €"]),
    # versions
    ("v2 of 1.2.3rc1 on Python 3.11", ["version:v2", "version:1.2.3rc1", "version:Python 3.11"]),
    ("httpx>=0.27 and compaction@v2", ["version:httpx>=0.27", "version:compaction@v2"]),
    ("wheel marshmallow-3.13.0 built", ["version:marshmallow-3.13.0"]),
    # hashes
    ("at commit 1a2b3c4d", ["hash:1a2b3c4d"]),
    ("sha256:" + "0a" * 32, ["hash:sha256:" + "0a" * 32]),
    ("digest " + "0123456789abcdef" * 4, ["hash:" + "0123456789abcdef" * 4]),
    ("run 550e8400-e29b-41d4-a716-446655440000", ["hash:550e8400-e29b-41d4-a716-446655440000"]),
]  # fmt: skip
NO_FACTS = [
    "27 files, 3 of 10, part 1.1, about 0.5 of it",
    "and/or, he/she, input/output, 1/2, 24/7, TCP/IP",
    "at 10:30 it was line 120, see lines 41-872 of 900",
    "   12\tdef f(x):\n  130\t    return x",
    "[spill://0123456789ab lines 1-200] and log://1717#L300",
    "iVBORw0KGgoAAAANSUhEUgAAA1234AAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
    "self.log(x) and os.path of a well-known 2-way thing",
    "a cafe, an effaced facade, deadbeef",
]


@pytest.mark.parametrize(("text", "expected"), EXAMPLES)
def test_strings_worth_keeping_are_found(text, expected):
    found = [f"{fact.kind}:{fact.text}" for fact in facts(text)]
    assert expected == found[: len(expected)]
    assert expected == found or "ORD-1" in text


@pytest.mark.parametrize("text", NO_FACTS)
def test_what_only_looks_like_a_fact_is_none(text):
    assert () == facts(text)


def test_every_kind_has_examples():
    assert set(KINDS) == {item.partition(":")[0] for _, expected in EXAMPLES for item in expected}


def test_facts_know_their_line_and_come_once():
    found = facts("nothing\nORD-1234\nORD-1234 and 990")
    assert [("ORD-1234", 2), ("990", 3)] == [(fact.text, fact.line) for fact in found]


def test_a_line_counts_from_the_text_also_behind_a_shell_block():
    found = facts("```sh\nuv sync\n```\n\nORD-1234")
    assert [("uv sync", 2), ("ORD-1234", 5)] == [(fact.text, fact.line) for fact in found]


def test_the_address_of_a_read_file_tells_its_path_and_nothing_else():
    head = "[file:data/contracts/contract_03.txt#L1-31@1a2b3c4d of 31 lines]"
    assert ["data/contracts/contract_03.txt"] == [fact.text for fact in facts(head)]


def test_what_is_taken_by_a_rule_no_other_looks_at():
    assert ["ORD-2026-03-01"] == [fact.text for fact in facts("ORD-2026-03-01")]
    assert ["FileNotFoundError: no file caps.csv of 125,000 bytes"] == [
        fact.text for fact in facts("FileNotFoundError: no file caps.csv of 125,000 bytes")
    ]


@pytest.mark.parametrize(
    "piece",
    ["1", "a", "a-", "a/", "a_", "`", '"', "1,", "1.", "a.b@", "\n", "/", "\\", "error ", "$ ", "Aa.", "1:",
     "```sh\n", 'error: "', "文", "é", "0x", "cap = ", "ValueError: ", "https://", "a.a "],
)  # fmt: skip
def test_no_text_makes_the_work_grow_faster_than_the_text(piece):
    """A rule that looks ahead without bound would not come to an end here."""
    facts(piece * (100_000 // len(piece)))
