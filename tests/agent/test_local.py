"""A session of a real model: llama.cpp's server with SmolLM2, started in this process. Skips where it is absent."""

import threading

import pytest

import ethang_nb as eth
from ethang_nb.agent.recovery import SOURCE
from ethang_nb.context.pairing import violations
from tests.agent.stage import kinds
from tests.providers.local_model import CTX, model_id


@pytest.fixture
def local(opened):
    """A session of the model, whose window is said to be nearly three times what the server has."""

    def make(**options):
        return opened(
            model_id(tools=False),
            system="Answer in one short sentence.",
            tools=["read_file"],
            params={"temperature": 0},
            **{"window": 3_000, "policy": "trim"} | options,
        )

    return make


def piece(number):
    """About 250 tokens."""
    said = " ".join(
        f"The contract says that goods are shipped to Paris under policy B-{number}{line}."
        for line in range(14)
    )
    return f"Piece {number}. {said} Say only: yes."


def test_the_servers_own_number_corrects_the_window_and_the_work_goes_on(local, tmp_path):
    session = local()
    runs = [session.run(piece(number)) for number in range(1, 7)]
    assert {"completed"} == {run.ending for run in runs}, [run.error for run in runs]
    assert 1 == kinds(session).count("overflow")
    (overflow,) = [event.data for event in session.recorded if event.kind == "overflow"]
    assert (CTX, "window") == (overflow["limit"], overflow["limits"])
    assert overflow["tokens"] > CTX
    assert (CTX, f"{SOURCE}; 3,000 was given") == (session.window.total, session.window.source)
    said = f"the provider says the window is {CTX:,} tokens; it was taken for 3,000 (given)"
    assert any(said in notice for notice in session.snapshot.notices)
    sent = [event.data["tokens"] for event in session.recorded if event.kind == "request"]
    assert max(sent[-2:]) <= session.window.hard
    assert () == violations(session.sent)
    assert all(run.cached for run in runs[1:]), "it reads what it had before from its cache, and says so"
    assert all(run.usage.predicted for run in runs[1:])
    assert runs[1].cost is None, "nobody sells it"
    session.close()
    again = eth.open_session("t", tmp_path)
    assert () == again.drift
    assert CTX == again.window.total
    again.close()


def test_its_own_window_is_read_from_the_server(local):
    session = local(window=None)
    assert CTX == session.window.total
    assert "given" not in session.window.source


def test_a_run_that_is_stopped_while_it_speaks_ends_and_the_next_one_works(local):
    session = local(window=None)
    first = threading.Event()
    session.watch_changes(lambda change: first.set() if change == "text" else None)
    run = session.start("Count from one to one hundred, each number on a line of its own.")
    assert first.wait(60)
    assert session.saying
    session.stop()
    assert run.wait(10).ending == "interrupted"
    assert session.saying == ""
    assert session.run("Say only: yes.").ok
