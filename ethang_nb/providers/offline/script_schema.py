"""What a script may say: its JSON schema, and the one line that names the place where one says something else."""

from __future__ import annotations

from typing import Any

from ethang_nb.errors import Misuse

__all__ = ["DEEDS", "SCHEMA", "checked"]

_TEXT = {"type": "string"}
_YES = {"const": True}
_COUNT = {"type": "integer", "minimum": 0}
LONGEST_DELAY = 30  # ► seconds
MOST_REPEATS = 1_000  # ►
DEEDS = ("say", "call", "note", "rate_limit", "cut_stream", "fail")

_CALL = {
    "type": "object",
    "required": ["name"],
    "additionalProperties": False,
    "properties": {"name": {"type": "string", "minLength": 1}, "arguments": {"type": ["object", "string"]}},
}
_TURN: dict[str, Any] = {
    "type": "object",
    "minProperties": 1,
    "additionalProperties": False,
    "properties": {
        "say": _TEXT,
        "call": {"type": "array", "items": _CALL, "minItems": 1},
        "note": _TEXT,
        "length": _YES,
        "garbage": _YES,
        "phantom_usage": _COUNT,
        "overflow_at": _COUNT,
        "rate_limit": _YES,
        "cut_stream": _TEXT,
        "fail": {"type": "string", "minLength": 1},
        "delay": {"type": "number", "minimum": 0, "maximum": LONGEST_DELAY},
        "repeat": {"type": "integer", "minimum": 1, "maximum": MOST_REPEATS},
    },
}
SCHEMA: dict[str, Any] = {
    "type": "object",
    "required": ["turns"],
    "additionalProperties": False,
    "properties": {
        "turns": {"type": "array", "items": _TURN},
        "overflow_at": _COUNT,
        "usage": {"enum": ["none", "report"]},
    },
}


def checked(data: dict[str, Any], *, where: str) -> dict[str, Any]:
    """`data` if it is a script. Raises Misuse, which names the first place that is wrong."""
    import jsonschema

    problem = jsonschema.exceptions.best_match(jsonschema.Draft202012Validator(SCHEMA).iter_errors(data))
    if problem is None:
        _check_turns(data["turns"], where)
        return data
    place = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in problem.absolute_path)
    said = " ".join(problem.message.split())
    allowed = (
        f"; allowed are {', '.join(_TURN['properties'])}"
        if problem.validator == "additionalProperties"
        else ""
    )
    raise Misuse(f"{where}, {place.lstrip('.') or 'the whole file'}: {said[:200]}{allowed}")


def _check_turns(turns: list[dict[str, Any]], where: str) -> None:
    for at, turn in enumerate(turns):
        if not any(deed in turn for deed in DEEDS):
            raise Misuse(f"{where}, turns[{at}]: it does nothing; give it one of {', '.join(DEEDS)}")
        if turn.get("garbage") and "call" not in turn:
            raise Misuse(f"{where}, turns[{at}].garbage: there is no call to spoil; give the turn a call")
