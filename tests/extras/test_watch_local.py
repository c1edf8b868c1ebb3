"""`eth.watch` with the official clients and a real model: llama.cpp's server speaks all three interfaces."""

import pytest

import ethang_nb as eth
from tests.providers.local_model import model_file

openai = pytest.importorskip("openai", reason="needs the official client: uv sync --group peers")
anthropic = pytest.importorskip("anthropic", reason="needs the official client: uv sync --group peers")

TASK = {"role": "user", "content": "Say hello."}


@pytest.fixture(scope="module")
def origin():
    path = model_file()
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path, params.n_ctx, params.n_parallel = str(path), 512, 1
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    params.warmup, params.verbosity, params.sampling.temp = False, 0, 0.0
    params.model_alias = {"local-test"}
    server = xllamacpp.Server(params)
    yield server.listening_address
    del server  # which ends it


class Reports:
    """What the context was told of usage: reported, our own count, from the cache."""

    def __init__(self, ctx):
        self.heard = []
        ctx.live.observers.append(self)

    def reported(self, *report):
        self.heard.append(report)

    def requested(self, turning):
        """Nothing to do."""

    reseeded = noted = released = requested


def test_all_three_interfaces_streamed_and_not_and_what_does_not_fit(origin):
    ctx = eth.Context(eth.window(512, reserve=64), model="gpt-4o")
    reports = Reports(ctx)
    client = openai.OpenAI(base_url=f"{origin}/v1", api_key="none", max_retries=1)
    other = anthropic.Anthropic(base_url=origin, api_key="none", max_retries=1)
    eth.watch(client, ctx)
    eth.watch(other, ctx)
    history = [{"role": "system", "content": "You are brief."}, TASK]
    usage = {"stream_options": {"include_usage": True}}
    first = client.chat.completions.create(model="m", messages=history, max_tokens=6)
    client.responses.create(model="m", input=[TASK], instructions="You are brief.", max_output_tokens=6)
    third = other.messages.create(model="m", messages=[TASK], system="You are brief.", max_tokens=6)
    said = first.choices[0].message.content
    assert said == third.content[0].text
    list(client.chat.completions.create(model="m", messages=history, max_tokens=6, stream=True, **usage))
    list(
        client.responses.create(
            model="m", input=[TASK], instructions="You are brief.", max_output_tokens=6, stream=True
        )
    )
    list(
        other.messages.create(model="m", messages=[TASK], system="You are brief.", max_tokens=6, stream=True)
    )
    # The same tokens each time, and from the second request on most of them from the server's cache.
    assert 6 == len(ctx.snapshot.timeline) == len(reports.heard)
    assert (
        1 == len({reported for reported, _, _ in reports.heard}) == len({own for _, own, _ in reports.heard})
    )
    assert 0 == reports.heard[0][2] < min(cached for _, _, cached in reports.heard[1:])
    assert [TASK["content"], said] == [message.text for message in ctx.live.assemble()][1:]
    assert () == ctx.snapshot.notices
    with client, other, pytest.raises(openai.BadRequestError, match="exceeds the available context size"):
        client.chat.completions.create(model="m", messages=[{"role": "user", "content": "word " * 600}])
    assert "does not fit" in ctx.snapshot.notices[0] and "512" in ctx.snapshot.notices[0]
