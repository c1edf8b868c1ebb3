"""The help text of the magics: one text, made from the tables of flags and commands, wherever it is asked for."""

from __future__ import annotations

from dataclasses import dataclass

from ethang_nb.errors import Unknown
from ethang_nb.notebook.cell import FLAGS
from ethang_nb.notebook.commands import COMMANDS, Command
from ethang_nb.notebook.outputs import Output
from ethang_nb.views.plain import indented

__all__ = ["HELP", "Help"]

_COLUMN = 24  # where the explanations start
_HEAD = """\
%%ethang [flags]             runs the text in the lines below as a piece of work
%ethang SUBCOMMAND [flags]   shows or steers the notebook's session
"""
_TAIL = """\
The text of a cell reaches the model as it is written. A ; at the end of a cell
or line hides its output. A cell works in the notebook's own session unless
--session names another; %ethang looks at the session of the last cell.

Settings: flag > %config Ethang.window = 6000 > ethang.toml > ETHANG_WINDOW >
default. The file ethang.toml lies in the project folder:

  [ethang]
  model = "reader"
  window = 6000
  policy = "mine"

  [policies.mine]             a policy of your own: what differs from its base
  base = "ethang"
  levels = [600, 750, 300]

In Python: import ethang_nb as eth; session = eth.Session("reader",
window=6000); session.run(task)."""
_EXAMPLES = """\
Three examples:

  %%ethang --window 6000
  Read every file in data/contracts and tell me which order is affected.

  %ethang segments

  %ethang pin Never open contract_17."""


def _entry(usage: str, *about: str) -> list[str]:
    """A row of the text; an explanation that finds no room beside the usage stands under it."""
    lines = [line for part in about for line in indented(part, " " * _COLUMN)]
    head = f"  {usage}"
    if len(head) + 2 <= _COLUMN:
        return [head.ljust(_COLUMN) + lines[0].lstrip(), *lines[1:]]
    return [head, *lines]


def _text() -> str:
    flags = [line for flag in FLAGS for line in _entry(flag.usage, flag.about)]
    commands = [line for row in COMMANDS.values() for line in _entry(row.usage, row.about)]
    parts = (
        _HEAD.rstrip(),
        "\n".join(["Flags of %%ethang:", *flags, *_entry("-h, --help", "this text")]),
        "\n".join(["Subcommands of %ethang, most of them with [--session NAME]:", *commands]),
        _EXAMPLES,
        _TAIL,
    )
    return "\n\n".join(parts)


HELP = _text()


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Help(Output):
    """The help text, or what there is to say of one subcommand. Raises Unknown for one that is none."""

    command: str | None = None

    def __post_init__(self) -> None:
        if self.command is not None and self.command not in COMMANDS:
            raise Unknown("subcommand", self.command, COMMANDS)

    def text(self) -> str:
        return HELP if self.command is None else _about(COMMANDS[self.command])

    def html(self) -> str:
        from ethang_nb.views.markup import el

        return el("pre", self.text())


def _about(row: Command) -> str:
    flags = [line for flag in row.flags for line in _entry(flag.usage, flag.about)]
    return "\n".join([f"%ethang {row.usage}", *_entry("", row.about), *flags, *_entry("in Python", row.call)])
