"""The core's bytes: the same in every process, and the prefix of a request the same from landing to landing."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from itertools import pairwise

import pytest

from ethang_nb.context.messages import ToolCall, ToolResult, assistant, tool, user
from ethang_nb.context.policies import POLICIES
from tests.context.builders import live, words


def played(rules: str, works: int = 6, turns: int = 9) -> list[tuple[str, bool]]:
    """Per request: the hash of what stands before the conversation, and whether the prefix may break there."""
    context = live(3_000, rules=rules, system="you are an agent")
    context.pin("report in EUR")
    found: list[tuple[str, bool]] = []
    for work in range(works):
        begun = context.begin(f"part {work}")
        breaks = begun is not None and begun.lands
        context.append(user(f"Do part {work}. Never open file{work}.txt."))
        for turn in range(turns):
            number = work * turns + turn
            call = ToolCall(id=f"c{number}", name="read_file", arguments=f'{{"path": "f{number}.txt"}}')
            turning = context.request()
            sent = context.assemble()
            notes = [message.text for message in sent if message.kind == "note"]
            prefix = "\0".join([sent[0].text, *notes])
            landed = turning.decision.lands or breaks or not found
            found.append((hashlib.sha256(prefix.encode()).hexdigest(), landed))
            breaks = False
            context.append(assistant("", [call]))
            address = f"file:f{number}.txt#L1-9@{number:08x}"
            context.append(
                tool(
                    ToolResult(call_id=call.id, text=words(120, f"w{number}"), address=address, again="read")
                )
            )
    return found


@pytest.mark.parametrize("rules", sorted(POLICIES))
def test_between_two_landings_the_prefix_is_the_same_bytes(rules):
    found = played(rules)
    for (before, _), (now, landed) in pairwise(found):
        assert landed or before == now
    assert sum(landed for _, landed in found) > 1


def test_the_same_record_gives_the_same_bytes_in_every_process():
    script = (
        "from tests.context.test_core_bytes import played\n"
        "from ethang_nb.context.policies import POLICIES\n"
        "print([played(rules) for rules in POLICIES])"
    )
    outputs = set()
    for seed in ("1", "2024"):
        environment = os.environ | {"PYTHONHASHSEED": seed}
        done = subprocess.run(
            [sys.executable, "-c", script], capture_output=True, text=True, check=True, env=environment
        )
        outputs.add(done.stdout)
    assert 1 == len(outputs)
