"""How a session reaches its models: tables of providers, keys, cassettes; and that it opens again as itself."""

from types import MappingProxyType

import pytest

import ethang_nb as eth
from ethang_nb.agent.models import Models
from ethang_nb.agent.opening import settings_of
from ethang_nb.agent.reach import Reach
from ethang_nb.context.pricing import Rates
from ethang_nb.errors import BadWindow, CassetteMiss, KeyMissing, Unknown
from ethang_nb.providers.models.facts import ModelFacts, Prices
from tests.agent import chatserver
from tests.agent.chatserver import ChatServer
from tests.agent.stage import Answers, documents, kinds

KEY = "-".join(["sk", *"test"])


@pytest.fixture(autouse=True)
def no_keys(monkeypatch):
    for name in ("OPENAI_API_KEY", "MY_KEY", "ETHANG_CASSETTE"):
        monkeypatch.delenv(name, raising=False)


def toml(folder, server, *, total=8_000):
    (folder / "ethang.toml").write_text(
        f'[providers.mine]\nbase_url = "{server.url}"\nkey = "MY_KEY"\n[models."mine/demo"]\ntotal = {total}\n'
    )


# ---- keys


def test_a_key_that_is_missing_is_said_before_anything_is_recorded(opened, tmp_path):
    with pytest.raises(KeyMissing, match="OPENAI_API_KEY"):
        opened("openai/gpt-4o")
    assert eth.sessions(tmp_path) == ()


def test_to_look_at_a_session_takes_no_key(opened, tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    session = opened("openai/gpt-4o", window=8_000)
    session.provider = Answers("done")
    session.run("Go.")
    session.close()
    monkeypatch.delenv("OPENAI_API_KEY")
    with eth.open_session("t", tmp_path, look=True) as looked:
        assert looked.model == "openai/gpt-4o"
        assert looked.snapshot.timeline
    with pytest.raises(KeyMissing):
        eth.open_session("t", tmp_path)


# ---- tables


def test_a_projects_table_leads_to_its_server_and_says_the_window(opened, tmp_path, monkeypatch):
    monkeypatch.setenv("MY_KEY", KEY)
    with ChatServer(chatserver.texts("from mine")) as server:
        toml(tmp_path, server, total=9_000)
        session = opened("mine/demo", window=None)
        assert session.window.total == 9_000
        assert session.run("Go.").answer == "from mine"
        path, headers, body = server.asked[0]
        assert ("/v1/chat/completions", f"Bearer {KEY}", "demo") == (
            path,
            headers["authorization"],
            body["model"],
        )
        session.close()
        again = eth.open_session("t", tmp_path)
        assert again.run("Again.").answer == "from mine"
        assert "given" not in [event for event in again.recorded if event.kind == "settings"][-1].data
        again.close()


def test_a_table_by_argument_goes_before_the_files_and_never_with_its_key(opened, tmp_path, monkeypatch):
    monkeypatch.setenv("MY_KEY", KEY)
    with (
        ChatServer(chatserver.texts("of the file")) as first,
        ChatServer(chatserver.texts("given")) as second,
    ):
        toml(tmp_path, first)
        session = opened("mine/demo", window=None, providers={"mine": {"base_url": second.url}})
        assert session.window.total == 8_000, "what the file says of the model still holds"
        assert session.run("Go.").answer == "given"
        assert "authorization" not in second.asked[0][1]
        session.close()
        assert {"mine": {"base_url": second.url}} == settings_of("t", tmp_path)["providers"]
        again = eth.open_session("t", tmp_path)
        assert again.run("Again.").answer == "given"
        again.close()
        assert [] == first.asked


def test_what_was_given_is_recorded_once_and_only_where_something_was(opened, tmp_path):
    session = opened()
    assert "given" not in session.recorded[0].data
    session.close()
    session = opened(models=["reader"])
    assert {"models": ["reader"]} == session.recorded[-1].data["given"]
    events = len(session.recorded)
    session.close()
    again = eth.open_session("t", tmp_path)
    assert (events, ("reader",)) == (len(again.recorded), again.given.models)
    again.close()


def test_an_unknown_provider_is_one_error_with_the_nearest(opened):
    with pytest.raises(Unknown, match="openai"):
        opened("opnai/gpt-4o")


def test_an_unknown_window_is_an_error_before_the_first_request(opened, tmp_path):
    with ChatServer(chatserver.refuses(404, {"error": {"message": "no"}})) as server:
        with pytest.raises(BadWindow, match="unknown"):
            opened(f"vllm/demo?base_url={server.url}", window=None)
        assert [] == server.asked
    assert eth.sessions(tmp_path) == ()


# ---- what is known of a model


def test_what_is_known_is_asked_once(monkeypatch):
    asked = []
    known = ModelFacts(total=1_000, max_output=10, source="test", prices=Prices(input=10, output=50, read=1))

    def facts(model, *, tables, live):
        asked.append((model, live))
        return known

    monkeypatch.setattr("ethang_nb.providers.registry.facts", facts)
    reach = Reach()
    assert Rates(read=100, write=1_000, output=5_000) == reach.rates("m/x") == reach.rates("m/x")
    assert [("m/x", False)] == asked, "prices alone ask no endpoint"
    assert 1_000 == reach.window(None, "m/x").total == reach.window(None, "m/x").total
    assert [("m/x", False), ("m/x", True)] == asked
    assert reach.prices("m/x") == known.prices


def test_a_session_that_is_looked_at_asks_no_endpoint(monkeypatch):
    asked = []
    monkeypatch.setattr(
        "ethang_nb.providers.registry.facts", lambda model, *, tables, live: asked.append(live)
    )
    Reach(look=True).facts("m/x")
    assert [False] == asked


def test_tables_of_any_kind_of_mapping_are_recorded(opened):
    table = MappingProxyType(
        {"base_url": "http://127.0.0.1:9/v1", "models": MappingProxyType({"x": {"total": 9_000}})}
    )
    session = opened("mine/x", window=None, providers=MappingProxyType({"mine": table}))
    assert session.window.total == 9_000
    assert {"x": {"total": 9_000}} == session.recorded[0].data["given"]["providers"]["mine"]["models"]


def test_models_are_kept_as_a_tuple():
    assert ("a", "b") == Models(models=["a", "b"]).models
    assert {} == Models().recorded


# ---- cassettes


def test_a_cassette_that_was_recorded_answers_without_key_and_network(opened, tmp_path, monkeypatch):
    documents(tmp_path, 2)
    monkeypatch.setenv("MY_KEY", KEY)
    turns = [
        chatserver.calls(("read_file", '{"path": "docs/c_01.txt"}')),
        chatserver.texts("I read ", "it.", usage={"prompt_tokens": 900, "completion_tokens": 4}),
    ]
    with ChatServer(*turns) as server:
        toml(tmp_path, server)
        session = opened("mine/demo", window=None, cassette="demo")
        run = session.run("Read it.")
        assert run.answer == "I read it."
        seen = len(server.asked)
        session.close()
    monkeypatch.delenv("MY_KEY")
    monkeypatch.setenv("ETHANG_CASSETTE", "replay")
    twice = []
    for name in ("u", "v"):
        session = opened("mine/demo", name=name, window=None, cassette="demo")
        again = session.run("Read it.")
        assert (again.ending, again.answer, again.tokens_in) == ("completed", run.answer, run.tokens_in)
        twice.append([(event.kind, event.at) for event in session.recorded])
        missed = session.run("Something else.")
        assert missed.ending == "provider error"
        assert missed.detail
        session.close()
    assert twice[0] == twice[1], "the clock stands still where the recording began"
    assert (2, 2) == (seen, len(server.asked))


def test_a_session_opened_again_plays_the_same_cassette(opened, tmp_path, monkeypatch):
    monkeypatch.setenv("MY_KEY", KEY)
    with ChatServer(chatserver.texts("one")) as server:
        toml(tmp_path, server)
        session = opened("mine/demo", window=None, cassette="demo")
        session.run("Go.")
        session.close()
    monkeypatch.delenv("MY_KEY")
    again = eth.open_session("t", tmp_path)
    assert again.given.cassette == "demo"
    assert () == again.drift
    run = again.run("What is not on it.")
    assert run.ending == "provider error"
    assert "MY_KEY" in run.error, "only what is not on the tape takes a key"
    again.close()


def test_in_replay_a_session_without_a_cassette_is_refused(opened, tmp_path, monkeypatch):
    monkeypatch.setenv("ETHANG_CASSETTE", "replay")
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with pytest.raises(CassetteMiss, match="no cassette; give it one"):
        opened("openai/gpt-4o")
    with pytest.raises(CassetteMiss, match="no cassette; give it one"):
        opened(summariser="openai/gpt-4o-mini")
    with pytest.raises(CassetteMiss, match="record it first"):
        opened("openai/gpt-4o", cassette="demo")
    assert eth.sessions(tmp_path) == ()
    assert opened().run("Go.").ok, "offline models need none"
    assert "request" in kinds(eth.open_session("t", tmp_path))


def test_a_note_is_asked_of_no_model_that_was_passed_over_when_it_was_recorded(opened, tmp_path, monkeypatch):
    """Its key was not set then, and in replay none need be."""
    monkeypatch.setenv("MY_KEY", KEY)
    with ChatServer(chatserver.texts("from mine")) as server:
        toml(tmp_path, server)
        session = opened("mine/demo", window=None, cassette="demo", models=["openai/gpt-4o", "mine/demo"])
        asked = [session._desk.reach.answers(model) for model in session.given.models]
        assert session.run("Go.").ok
        session.close()
    assert [False, True] == asked
    monkeypatch.delenv("MY_KEY")
    monkeypatch.setenv("ETHANG_CASSETTE", "replay")
    session = opened("mine/demo", name="u", window=None, cassette="demo", models=session.given.models)
    assert asked == [session._desk.reach.answers(model) for model in session.given.models]
