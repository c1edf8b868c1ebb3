"""The terminal command `ethang-nb`: a table of subcommands, and errors that are one line.

Exit codes: 0 when a command did what it is for, 1 when it did not, 2 when it was called wrongly. A traceback is
shown only where ETHANG_DEBUG=1 asks for it.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NoReturn

import ethang_nb
from ethang_nb.cli import demo
from ethang_nb.errors import EthangError, Misuse, Unknown

__all__ = ["COMMANDS", "Command", "main"]

_ABOUT = "ethang-nb: see and steer the context window of an agent"


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A subcommand: one line about it, its arguments, and what it does; `run` returns the exit code."""

    about: str
    arguments: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace], int]


COMMANDS: dict[str, Command] = {
    "demo": Command(about=demo.ABOUT, arguments=demo.arguments, run=demo.run),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line and returns the exit code."""
    try:
        return _dispatch(list(sys.argv[1:] if arguments is None else arguments))
    except BrokenPipeError:
        # Whoever read the output has enough. The stream is replaced, or Python complains when it flushes at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return 1
    except KeyboardInterrupt:
        return _failed("interrupted", 1)
    except EthangError as error:
        return _failed(str(error), 2 if isinstance(error, Misuse) else 1)
    except Exception as error:
        return _failed(
            f"{type(error).__name__}: {error} (a fault of ethang_nb; ETHANG_DEBUG=1 shows where)", 1
        )


def _dispatch(words: list[str]) -> int:
    match words:
        case [] | ["-h" | "--help" | "help"]:
            print(_help())
            return 0
        case ["-V" | "--version" | "version"]:
            print(f"ethang-nb {ethang_nb.__version__}")
            return 0
        case ["help", name, *_]:
            print(_parser(name).format_help(), end="")
            return 0
        case [option, *_] if option.startswith("-"):
            raise Unknown("option", option, ("--version", "--help"))
        case [name, *rest]:
            parser = _parser(name)
            if "-h" in rest or "--help" in rest:
                print(parser.format_help(), end="")
                return 0
            found, left = parser.parse_known_args(rest)
            if left:
                parser.refuse(left[0])
            return COMMANDS[name].run(found)
        case _:
            raise AssertionError(words)


def _help() -> str:
    rows = [
        *((name, command.about) for name, command in COMMANDS.items()),
        ("help", "help [COMMAND]: this text"),
    ]
    lines = [_ABOUT, "", *(f"  ethang-nb {name:<8} {about}" for name, about in rows)]
    return "\n".join([*lines, "", "  ethang-nb --version"])


def _parser(name: str) -> _Parser:
    if name not in COMMANDS:
        raise Unknown("command", name, (*COMMANDS, "help"))
    parser = _Parser(prog=f"ethang-nb {name}", description=COMMANDS[name].about, allow_abbrev=False)
    COMMANDS[name].arguments(parser)
    return parser


class _Parser(argparse.ArgumentParser):
    """argparse whose complaints are Misuse instead of an exit."""

    def error(self, message: str) -> NoReturn:
        raise Misuse(f"{message}; see {self.prog} --help")

    def refuse(self, word: str) -> NoReturn:
        """Of a word that is left over: the nearest option, or that nothing of the kind is taken."""
        if word.startswith("-"):
            options = [option for action in self._actions for option in action.option_strings]
            raise Unknown("option", word.partition("=")[0], options)
        raise Misuse(f"{self.prog} takes no argument {word[:60]!r}; see {self.prog} --help")


def _failed(text: str, code: int) -> int:
    if os.environ.get("ETHANG_DEBUG") == "1" and sys.exc_info()[0] is not None:
        import traceback

        traceback.print_exc()
    print(f"ethang-nb: {' '.join(text.split())}", file=sys.stderr)
    return code
