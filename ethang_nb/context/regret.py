"""Regret: what an agent did again because a cut took it out of the window.

Calls repeated, addresses and files read back, questions asked again, decisions reopened, each linked to the cut
it comes from (seed 003: "The symptom arrives as a repeated question or a reversed decision, three iterations
after the cut"). Rules over calls and words, in doubt silent: what asks for something new is no regret.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, NamedTuple

from ethang_nb.context.address import parse
from ethang_nb.context.deeds import Deed, deed
from ethang_nb.context.messages import Message, Text, ToolCall, ToolResult
from ethang_nb.context.reopening import Asked, Decided, asked, decided, reopens
from ethang_nb.context.wording import call_title, preview
