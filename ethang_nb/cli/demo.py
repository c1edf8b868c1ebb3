"""`ethang-nb demo`: one piece of work in a small window, told as it happens, then what became of the window.

It runs in a folder of its own, which stays: documents, record and report lie there, whatever ETHANG_HOME says.
"""

from __future__ import annotations

import argparse
import os
import shlex
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ethang_nb.agent.limits import Limits
from ethang_nb.agent.run import Run
from ethang_nb.agent.session import Session
from ethang_nb.cli import afterwards
from ethang_nb.cli.live import Live
from ethang_nb.cli.terminal import Terminal
from ethang_nb.config import check_model, checked, steps
from ethang_nb.context.messages import user
from ethang_nb.context.policies import POLICIES
from ethang_nb.errors import Misuse, PathRefused
from ethang_nb.lessons import contracts, modules
from ethang_nb.lessons.lesson import Lesson
from ethang_nb.providers.registry import check, models
from ethang_nb.views.numbers import count, grouped, tokens
from ethang_nb.views.report import report

__all__ = ["ABOUT", "WINDOW", "arguments", "run"]

ABOUT = "an agent reads more than its window holds"
UNDER_UV = "UV_RUN_RECURSION_DEPTH"  # set by `uv run` for what it starts
WINDOW = 6_000  # ► tokens: thirty contracts of 420 need two or three nudges and cleanups


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--policy", default="ethang", metavar="NAME", help=f"{', '.join(POLICIES)} (ethang)")
    parser.add_argument(
        "--window", default=str(WINDOW), metavar="TOKENS", help=f"size of the window ({WINDOW:,})"
    )
    parser.add_argument("--model", default="reader", metavar="ID", help=f"{', '.join(models())} (reader)")
    parser.add_argument("--steps", metavar="N", help=f"the most steps the run may take ({Limits().steps})")
    parser.add_argument(
        "--real", action="store_true", help="read modules of this Python's standard library instead"
    )
    parser.add_argument(
        "--out", metavar="FILE", help="where the HTML report goes (report.html in the folder)"
    )
    parser.add_argument("--folder", metavar="DIR", help="a new or empty folder to work in (a temporary one)")


def run(found: argparse.Namespace) -> int:
    """0 when the run completed, else 1. Raises Misuse for a bad argument, and then leaves and prints nothing."""
    lesson = modules.LESSON if found.real else contracts.LESSON
    window = checked("window", found.window, "argument")
    check_model(found.model, check)
    limits = None if found.steps is None else Limits(steps=steps(found.steps))
    for option, value in (("--out", found.out), ("--folder", found.folder)):
        if value is not None and not value.strip():
            raise Misuse(f"{option} is blank; give a path, or leave it out")
    with _folder(found.folder) as folder, _own_record(folder):
        lesson.write(folder)
        out = Path(found.out).expanduser().absolute() if found.out else folder / "report.html"
        with Session(
            found.model, name="demo", window=window, policy=found.policy, root=folder, limits=limits
        ) as session:
            _refuse_unwritable(out)
            session.live.check(
                user(lesson.task)
            )  # before anything is printed: a window that the task does not fit
            return _tell(session, lesson, folder, out)


def _tell(session: Session, lesson: Lesson, folder: Path, out: Path) -> int:
    terminal = Terminal()
    _header(terminal, session, lesson, folder)
    live = Live(terminal, session)
    session.watch(live)
    ended = session.run(lesson.task)
    live.finish(ended)
    if ended.snapshot is not None:
        out.write_text(report(ended.snapshot, ended, title=_title(session)), encoding="utf-8")
    afterwards.tell(terminal, session, ended, [f"{lesson.folder}/{name}" for name in lesson.texts()])
    _ways_on(terminal, ended, out)
    return 0 if ended.ok else 1


def _header(terminal: Terminal, session: Session, lesson: Lesson, folder: Path) -> None:
    texts = lesson.texts()
    size = sum(session.counter.count(text) for text in texts.values())
    window = session.window
    fits = "more than the window holds" if size > window.usable else "the window holds them all"
    terminal.say(_title(session), "strong")
    terminal.named("reads", f"{count(len(texts), 'file')} of {tokens(size)} together: {fits}")
    offline = "; no key and no network needed" if session.model.startswith("reader") else ""
    terminal.named("model", session.provider.label + offline)
    terminal.named(
        "window",
        f"{tokens(window.total)}: {grouped(window.usable)} usable, {grouped(window.reserve)} kept for the answer; "
        f"policy {session.policy.name}",
    )
    terminal.say(f"  folder   {folder} (it stays)")  # whole, so that it can be copied
    terminal.named("task", lesson.task)
    terminal.say()


def _ways_on(terminal: Terminal, ended: Run, out: Path) -> None:
    if ended.snapshot is not None:
        terminal.say(f"  report   {out}")
    terminal.say(f"  notebook {_notebook_command()}")


def _title(session: Session) -> str:
    return f"ethang-nb demo: one piece of work in a window of {tokens(session.window.total)}"


def _notebook_command() -> str:
    """The command of a checkout, in the way this one was started: by uv, or out of an environment.

    Where only the package is installed there are no notebooks to open.
    """
    checkout = Path(__file__).parents[2]
    notebook = Path("notebooks") / "01_first_session.ipynb"
    if not (checkout / notebook).is_file():
        return "jupyter lab, then %load_ext ethang_nb in a cell"
    here = Path.cwd() == checkout
    command = f"{_jupyter(checkout)} lab {notebook}"
    return command if here else f"cd {shlex.quote(str(checkout))} && {command}"


def _jupyter(checkout: Path) -> str:
    """How `jupyter` of this environment is called from the checkout."""
    if UNDER_UV in os.environ:
        return "uv run jupyter"
    own = Path(sys.executable).parent / "jupyter"
    if not own.is_file() or shutil.which("jupyter") == str(own):
        return "jupyter"
    try:
        return shlex.quote(str(own.relative_to(checkout)))
    except ValueError:
        return shlex.quote(str(own))


@contextmanager
def _folder(given: str | None) -> Iterator[Path]:
    """The folder to work in. Where the call was wrong, so that no run began, it is left as it was."""
    folder = Path(given).expanduser().absolute() if given else Path(tempfile.mkdtemp(prefix="ethang-demo-"))
    existed = given is not None and folder.exists()
    _refuse_used(folder)
    try:
        yield folder
    except Misuse:
        shutil.rmtree(folder, ignore_errors=True)
        if existed:
            folder.mkdir()
        raise


def _refuse_used(folder: Path) -> None:
    """A demo is the same every time, so it begins with an empty folder and an empty record."""
    try:
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise PathRefused(f"--folder {str(folder)!r} is not an empty folder; name a new one")
    except OSError as error:
        raise PathRefused(
            f"--folder {str(folder)!r} cannot be used: {error.strerror}; name another one"
        ) from None


@contextmanager
def _own_record(folder: Path) -> Iterator[None]:
    """The record lies in the demo's folder: a person's own record gets no demo in it."""
    moved = os.environ.get("ETHANG_HOME")
    os.environ["ETHANG_HOME"] = str(folder / ".ethang")
    try:
        yield
    finally:
        if moved is None:
            del os.environ["ETHANG_HOME"]
        else:
            os.environ["ETHANG_HOME"] = moved


def _refuse_unwritable(out: Path) -> None:
    """Asked before the run: a report that cannot be written should not be learned of after it."""
    if out.is_dir() or not out.parent.is_dir() or not os.access(out.parent, os.W_OK):
        raise PathRefused(f"--out {str(out)!r} cannot be written; name a file in a folder that exists")
