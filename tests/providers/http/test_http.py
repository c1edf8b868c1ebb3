"""A line to raw servers that misbehave on order: what goes out, what is tried again, how each failure ends."""

import asyncio
import logging
import random
import socket
from contextlib import asynccontextmanager

import pytest
import stamina

from ethang_nb.errors import KeyMissing, Overflow, ProviderFault
from ethang_nb.providers.hearing import Hearing
from ethang_nb.providers.http import line as http
from ethang_nb.providers.http.line import HttpLine, get_json
from ethang_nb.providers.http.waiting import Timeouts, Waits
from ethang_nb.providers.line import Call
from ethang_nb.providers.protocol import Body, Reply
from tests.providers.servers import (
    CALL,
    DONE,
    QUICK,
    Plain,
    ask,
    asked,
    deaf,
    drops,
    event,
    hangs,
    peer,
    says,
    streams,
)

WHOLE = streams(event("a"), event("b"), DONE)
BUSY = says({"error": {"message": "come back later"}}, 503)
KEY = "sk-" + "planted-0123456789"


def text(hearing):
    assert isinstance(hearing.outcome, Reply), hearing.outcome
    return hearing.outcome.message.text


# ---- what goes out


def test_the_body_goes_out_byte_for_byte_with_the_headers_that_are_asked_for_then():
    keys = iter(["first", "second"])

    def headers():
        return {"authorization": f"Bearer {next(keys)}"}

    hearing, it = asked(BUSY, WHOLE, headers=headers, query={"api-version": "1 2"})
    assert text(hearing) == "ab"
    assert it.bodies == [CALL.body.bytes] * 2
    assert ["Bearer first", "Bearer second"] == [
        line.partition(": ")[2]
        for head in it.heads
        for line in head.split("\r\n")
        if line.lower()[:5] == "autho"
    ]
    head = it.heads[0].lower()
    assert head.startswith("post /v1/say?api-version=1+2 http/1.1") or "api-version=1%202" in head
    for line in (
        "x-wire: plain",
        "content-type: application/json",
        "accept: text/event-stream",
        "accept-encoding: identity",
    ):
        assert line in head


def test_a_header_is_sent_once_whatever_the_case_of_its_name():
    _, it = asked(WHOLE, headers=lambda: {"User-Agent": "mine", "X-WIRE": "other"})
    lines = [line.lower() for line in it.heads[0].split("\r\n")]
    assert [line for line in lines if line.startswith(("user-agent:", "x-wire:"))] == [
        "user-agent: mine",
        "x-wire: other",
    ]


@pytest.mark.parametrize("address", ["{}", "{}/", "{}?tenant=7"])
def test_the_path_follows_the_address_whatever_ends_it(address):
    async def main():
        async with peer(WHOLE) as it:
            await ask(lambda: address.format(it.url), query={"a": "b"} if "?" in address else {})
            return it.heads[0].split()[1]

    assert asyncio.run(main()) in ("/v1/say", "/v1/say?tenant=7&a=b")


def test_a_missing_key_goes_through_and_nothing_is_sent():
    def headers():
        raise KeyMissing("set THE_KEY")

    async def main():
        async with peer(WHOLE) as it:
            with pytest.raises(KeyMissing):
                await ask(it.url, headers=headers)
            return it.connections

    assert asyncio.run(main()) == 0


# ---- what comes back


def test_a_stream_is_told_as_it_comes():
    told, begun = [], asyncio.Event()

    def tell(piece):
        told.append(piece)
        begun.set()

    async def once_told(it, reader, writer):
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n" + event("first"))
        await writer.drain()
        await begun.wait()  # the rest is only sent when the first piece has arrived
        writer.write(event("second") + DONE)
        return False

    async def main():
        async with peer(once_told) as it:
            return await ask(it.url, on_text=tell)

    assert text(asyncio.run(main())) == "firstsecond"
    assert told == ["first", "second"]


def test_json_and_failures_come_whole():
    assert text(asked(says({"t": "a"}))[0]) == "a"
    fault = asked(says({"error": {"message": "bad field"}}, 400))[0].outcome
    assert isinstance(fault, ProviderFault) and "bad field" in str(fault)
    overflow = {"error": {"code": "context_length_exceeded", "message": "too long"}}
    assert isinstance(asked(says(overflow, 400))[0].outcome, Overflow)


def test_a_redirect_is_not_followed():
    async def main():
        async with peer(WHOLE) as other, peer(says(b"", 307, location=other.url)) as it:
            hearing = await ask(it.url)
            return hearing.outcome, other.connections

    fault, connections = asyncio.run(main())
    assert "307" in str(fault) and connections == 0


@pytest.mark.parametrize("coding", ["gzip", "deflate"])
def test_a_broken_compression_ends_by_name(coding):
    hearing, it = asked(says(b"\x1f\x8b nonsense", content_encoding=coding))
    assert "compressed" in str(hearing.outcome)
    assert len(it.bodies) == QUICK.tries


# ---- again, and until when


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 504, 529])
def test_a_status_that_may_pass_is_tried_again_and_the_reply_tells_of_it(status):
    notes = []
    hearing, it = asked(says({"error": {"message": "later"}}, status), BUSY, WHOLE, on_note=notes.append)
    assert text(hearing) == "ab" and len(it.bodies) == 3
    (notice,) = hearing.outcome.notices
    assert notice.startswith("answered at try 3") and f"HTTP {status}" in notice and "HTTP 503" in notice
    first, over, second, over_again = notes
    assert f"HTTP {status}" in first and "try 2 of 4 in 1 s" in first and "try 3 of 4" in second
    assert over == over_again == "", "what was told of the wait ends when the try begins"
    assert not any("\n" in line for line in [*notes, notice])


@pytest.mark.parametrize("status", [400, 401, 403, 404, 409, 422, 501])
def test_a_status_that_will_not_pass_is_final(status):
    hearing, it = asked(says({"error": {"message": "no"}}, status))
    assert isinstance(hearing.outcome, ProviderFault) and len(it.bodies) == 1
    assert "tries" not in str(hearing.outcome)


def test_after_the_last_try_the_fault_tells_what_was_tried():
    notes = []
    hearing, it = asked(BUSY, on_note=notes.append)
    assert len(it.bodies) == QUICK.tries and len([line for line in notes if line]) == QUICK.tries - 1
    assert "come back later" in str(hearing.outcome) and "after 4 tries in 1 s" in str(hearing.outcome)


def test_waits_grow_and_a_wait_that_is_asked_for_is_kept():
    slow = says({}, 429, retry_after_ms=60)
    _, it = asked(BUSY, BUSY, slow, WHOLE, waits=Waits(first=0.02, most=9, jitter=0))
    first, second, third = (after - before for before, after in zip(it.times, it.times[1:], strict=False))
    assert first >= 0.02 and second >= 0.04 and third >= 0.06


def test_a_wait_of_an_hour_is_told_and_not_waited_for():
    notes, patient = [], Waits(patience=1e9)
    quota = says({"error": {"message": "quota"}}, 429, retry_after=3600)
    hearing, it = asked(quota, on_note=notes.append, waits=patient)
    assert len(it.bodies) == 1 and not notes
    assert (
        "quota" in str(hearing.outcome)
        and "60 min" in str(hearing.outcome)
        and "\n" not in str(hearing.outcome)
    )
    assert hearing.outcome.after == 3600


@pytest.mark.parametrize("value", ["nan", "inf", "-5", "Mon, 30 Nov 1998 12:00:30 GMT"])
def test_a_wait_that_is_no_time_is_not_believed(value):
    assert text(asked(says({}, 429, retry_after=value), WHOLE)[0]) == "ab"


def test_no_try_begins_when_patience_is_over():
    hearing, it = asked(says({}, 429, retry_after=30), waits=Waits(patience=20))
    assert len(it.bodies) == 1 and isinstance(hearing.outcome, ProviderFault)


def test_an_empty_stream_is_asked_for_again():
    hearing, it = asked(streams(), streams(b": ping\n\n", DONE), WHOLE)
    assert text(hearing) == "ab" and len(it.bodies) == 3
    assert "nothing came" in str(asked(streams())[0].outcome)


def test_an_error_in_a_stream_is_tried_again_only_before_the_first_word():
    error = b'data: {"error":{"message":"overloaded","code":503}}\n\n'
    assert text(asked(streams(error), WHOLE)[0]) == "ab"
    hearing, it = asked(streams(event("half"), error), WHOLE)
    assert len(it.bodies) == 1
    assert hearing.outcome.partial == {"text": "half"} and "overloaded" in str(hearing.outcome)


def test_overflow_is_never_sent_again():
    hearing, it = asked(says({"error": {"code": "context_length_exceeded", "message": "x"}}, 500), WHOLE)
    assert isinstance(hearing.outcome, Overflow) and len(it.bodies) == 1


# ---- connections that fail


def test_a_connection_that_breaks_before_the_first_word_is_tried_again():
    for broken in (drops, streams(then="break"), streams(b": ping\n\n", then="break"), says({}, length=99)):
        hearing, it = asked(broken, WHOLE)
        assert text(hearing) == "ab" and len(it.bodies) == 2
        assert "broke" in hearing.outcome.notices[0]


def test_a_connection_that_breaks_after_a_word_is_not_and_what_came_is_kept():
    hearing, it = asked(streams(event("half"), then="break"), WHOLE)
    assert len(it.bodies) == 1
    assert hearing.outcome.partial == {"text": "half"}
    assert "in the middle of its answer" in str(hearing.outcome) and "ask again" in str(hearing.outcome)


def test_a_connection_that_breaks_after_the_end_marker_broke_nothing():
    assert asked(streams(event("a"), DONE, then="break"))[0].outcome.stop == "end"


def test_nobody_there_is_told_with_the_address_and_what_was_tried():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    with pytest.raises(ProviderFault) as fault:
        asyncio.run(ask(f"http://127.0.0.1:{port}/v1"))
    assert f"127.0.0.1:{port}" in str(fault.value) and "refused" in str(fault.value).lower()
    assert "base_url" in str(fault.value) and "after 4 tries" in str(fault.value)


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("http://no-such-host.invalid/v1", "no-such-host.invalid"),
        ("ftp://user:pw@host/v1", "host"),
        ("nonsense", "nonsense"),
        ("http://[::1/v1", "base_url"),
        ("http://host:99999999/v1", "base_url"),
        ("", "base_url"),
    ],
)
def test_an_address_that_leads_nowhere_is_named_at_once(address, words):
    notes = []
    with pytest.raises(ProviderFault) as fault:
        asyncio.run(ask(address, on_note=notes.append))
    assert words in str(fault.value) and "\n" not in str(fault.value) and "pw" not in str(fault.value)
    assert "tries" not in str(fault.value) and not notes


def test_tls_to_a_server_without_it_is_named_and_not_tried_again():
    async def main():
        connections = []

        async def plain(reader, writer):
            connections.append(await reader.read(1))
            writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
            writer.close()

        server = await asyncio.start_server(plain, "127.0.0.1", 0)
        with pytest.raises(ProviderFault, match="no safe connection") as fault:
            await ask(f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1")
        server.close()
        return str(fault.value), connections

    told, connections = asyncio.run(main())
    assert len(connections) == 1 and "wrong version number" in told and "address" in told


@pytest.mark.parametrize("odd", ["\n", "é"])
def test_a_header_that_cannot_be_sent_is_not_repeated_in_the_error(odd):
    with pytest.raises(ProviderFault) as fault:
        asked(WHOLE, headers=lambda: {"authorization": f"Bearer {KEY}{odd}"})
    assert KEY not in str(fault.value) and "header" in str(fault.value)


# ---- a kept connection that went stale


def test_a_connection_is_kept_and_used_again():
    async def main():
        async with peer(WHOLE) as it:
            line = HttpLine(it.url, waits=QUICK)
            for _ in range(3):
                assert text(await line.ask(CALL, lambda: Hearing(Plain()))) == "ab"
            await line.close()
            return it.connections

    assert asyncio.run(main()) == 1


def test_a_stale_connection_is_no_try_and_is_not_waited_for():
    notes = []

    async def main():
        async with peer(streams(event("a"), DONE, then="vanish"), WHOLE) as it:
            line = HttpLine(it.url, waits=Waits(tries=1))
            await line.ask(CALL, lambda: Hearing(Plain()))
            second = await line.ask(CALL, lambda: Hearing(Plain()), on_note=notes.append)
            await line.close()
            return second, it

    hearing, it = asyncio.run(main())
    assert text(hearing) == "ab" and it.connections == 2
    assert hearing.outcome.notices == () and notes == []


def test_a_new_connection_that_says_nothing_is_a_try():
    with pytest.raises(ProviderFault, match="before it had answered"):
        asked(drops, waits=Waits(tries=1))


def test_a_kept_connection_that_began_to_answer_was_not_stale():
    async def main():
        async with peer(WHOLE, streams(event("half"), then="break"), WHOLE) as it:
            line = HttpLine(it.url, waits=QUICK)
            await line.ask(CALL, lambda: Hearing(Plain()))
            second = await line.ask(CALL, lambda: Hearing(Plain()))
            await line.close()
            return second.outcome, len(it.bodies)

    fault, bodies = asyncio.run(main())
    assert fault.partial == {"text": "half"} and bodies == 2


# ---- a limit for each phase

SHORT = {"pool": 5, "connect": 5, "write": 5, "first": 5, "idle": 5}
ONCE = Waits(tries=1)


def late(phase, *answers, seconds=0.1):
    try:
        hearing, _ = asked(*answers, timeouts=Timeouts(**{**SHORT, phase: seconds}), waits=ONCE)
        fault = hearing.outcome
    except ProviderFault as raised:
        fault = raised
    assert "1 s" in str(fault) and "127.0.0.1" in str(fault) and "\n" not in str(fault)
    return fault


def test_no_connection_in_time():
    with deaf() as url, pytest.raises(ProviderFault, match="took no connection within 1 s"):
        asyncio.run(ask(url, timeouts=Timeouts(**{**SHORT, "connect": 0.1}), waits=ONCE))


def test_a_request_that_does_not_go_out_in_time():
    async def main():
        blocked = asyncio.Event()

        async def never_reads(_, writer):
            await blocked.wait()
            writer.close()

        server = await asyncio.start_server(never_reads, "127.0.0.1", 0, limit=2)
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        call = Call(path="/say", body=Body(pieces=(b"x" * 30_000_000,)))
        with pytest.raises(ProviderFault, match=r"could not be sent to .* within 1 s"):
            await ask(url, call=call, timeouts=Timeouts(**{**SHORT, "write": 0.2}), waits=ONCE)
        blocked.set()
        server.close()

    asyncio.run(main())


def test_no_first_byte_in_time():
    assert "sent nothing within" in str(late("first", hangs))
    assert "sent nothing within" in str(late("first", streams(then="hang")))


def test_silence_in_the_middle():
    fault = late("idle", streams(event("half"), then="hang"))
    assert "fell silent" in str(fault) and fault.partial == {"text": "half"}


def test_heartbeats_keep_an_answer_alive():
    """Each pause is well within the limit, all of them together are far beyond it."""
    beats = streams(*[b": ping\n\n"] * 25, event("a"), DONE, every=0.05)
    hearing, _ = asked(beats, timeouts=Timeouts(**{**SHORT, "idle": 1}), waits=ONCE)
    assert text(hearing) == "a"


def test_silence_before_the_first_word_is_tried_again():
    hearing, it = asked(hangs, WHOLE, timeouts=Timeouts(**{**SHORT, "first": 0.1}))
    assert text(hearing) == "ab" and it.closed.is_set()


def test_a_connection_left_open_after_the_answers_end_is_not_waited_for():
    hearing, _ = asked(streams(event("a"), DONE, then="hang"), timeouts=Timeouts(grace=0.05))
    assert (text(hearing), hearing.outcome.stop) == ("a", "end")


def test_no_free_connection_in_time(monkeypatch):
    monkeypatch.setattr(http, "CONNECTIONS", 1)

    async def main():
        async with peer(streams(event("a"), then="hang")) as it:
            line = HttpLine(it.url, timeouts=Timeouts(**{**SHORT, "pool": 0.1}), waits=ONCE)
            first = asyncio.ensure_future(line.ask(CALL, lambda: Hearing(Plain())))
            await it.asked.wait()
            with pytest.raises(ProviderFault, match="became free within 1 s"):
                await line.ask(CALL, lambda: Hearing(Plain()))
            first.cancel()
            await asyncio.gather(first, return_exceptions=True)
            await line.close()

    asyncio.run(main())


# ---- cancelling


async def cancelled(url, until, **settings):
    """Asks, cancels once `until` is so, and returns the seconds that took."""
    task = asyncio.ensure_future(ask(url, **settings))
    await until
    await asyncio.sleep(0.02)  # so that it waits where it is meant to
    start = asyncio.get_running_loop().time()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    return asyncio.get_running_loop().time() - start


@pytest.mark.parametrize("answer", [hangs, streams(then="hang"), streams(event("a"), then="hang")])
def test_a_cancel_closes_the_connection_within_a_second(answer):
    async def main():
        async with peer(answer) as it:
            took = await cancelled(it.url, it.asked.wait())
            await asyncio.wait_for(it.closed.wait(), 1)
            return took, len(it.bodies)

    took, bodies = asyncio.run(main())
    assert took < 1 and bodies == 1


def test_a_cancel_while_connecting_ends_at_once():
    async def main():
        with deaf() as url:
            return await cancelled(url, asyncio.sleep(0.05))

    assert asyncio.run(main()) < 1


def test_a_cancel_while_waiting_for_the_next_try_ends_at_once():
    noted = asyncio.Event()

    async def main():
        async with peer(says({}, 429, retry_after=30)) as it:
            took = await cancelled(it.url, noted.wait(), on_note=lambda _: noted.set())
            return took, len(it.bodies)

    took, bodies = asyncio.run(main())
    assert took < 1 and bodies == 1


def test_a_line_goes_on_after_a_cancel():
    async def main():
        async with peer(hangs, WHOLE) as it:
            line = HttpLine(it.url, waits=QUICK)
            first = asyncio.ensure_future(line.ask(CALL, lambda: Hearing(Plain())))
            await it.asked.wait()
            first.cancel()
            await asyncio.gather(first, return_exceptions=True)
            second = await line.ask(CALL, lambda: Hearing(Plain()))
            await line.close()
            return text(second)

    assert asyncio.run(main()) == "ab"


# ---- whose fault it is


@pytest.mark.parametrize(
    "error", [BrokenPipeError("the terminal is gone"), TimeoutError("the terminal is slow")]
)
def test_what_a_listener_raises_is_its_own_fault_and_closes_the_connection(error):
    def listener(_):
        raise error

    async def main():
        async with peer(streams(event("a"), then="hang")) as it:
            with pytest.raises(type(error), match="terminal"):
                await ask(it.url, on_text=listener)
            await asyncio.wait_for(it.closed.wait(), 1)
            return len(it.bodies)

    assert asyncio.run(main()) == 1


# ---- loops


def test_a_line_works_from_one_loop_after_another_and_from_two_at_once():
    async def one(line):
        hearing = await line.ask(CALL, lambda: Hearing(Plain()))
        return text(hearing)

    @asynccontextmanager
    async def lined():
        async with peer(WHOLE) as it:
            yield HttpLine(it.url, waits=QUICK), it

    async def main():
        async with lined() as (line, it):

            async def closing():
                try:
                    return await one(line)
                finally:
                    await line.close()

            threads = [asyncio.to_thread(asyncio.run, closing()) for _ in range(2)]
            told = [*await asyncio.gather(*threads), await one(line), await one(line)]
            await line.close()
            told.append(await one(line))  # closed is not gone
            await line.close()
            return told, it.connections

    told, connections = asyncio.run(main())
    assert told == ["ab"] * 5 and connections == 4


def test_an_address_that_changes_meanwhile_is_the_next_one_asked():
    async def main():
        async with peer(streams(event("first"), DONE)) as one, peer(streams(event("second"), DONE)) as two:
            urls = iter([one.url, two.url, one.url])
            line = HttpLine(lambda: next(urls), waits=QUICK)
            told = [text(await line.ask(CALL, lambda: Hearing(Plain()))) for _ in range(3)]
            await line.close()
            return told, one.connections, two.connections

    assert asyncio.run(main()) == (["first", "second", "first"], 1, 1)


# ---- the rest of the process


def test_proxies_are_followed_but_not_to_this_machine(monkeypatch):
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    assert text(asked(WHOLE)[0]) == "ab"

    async def main():
        async with peer(WHOLE) as it:
            monkeypatch.setenv("HTTP_PROXY", it.url.removesuffix("/v1"))
            hearing = await ask("http://model.example/v1")
            return text(hearing), it.heads[0].split()[1]

    assert asyncio.run(main()) == ("ab", "http://model.example/v1/say")


def test_a_proxy_that_cannot_be_used_is_named_without_its_password(monkeypatch):
    monkeypatch.setenv("HTTP_PROXY", f"gopher://me:{KEY}@proxy")
    with pytest.raises(ProviderFault, match="HTTP_PROXY") as fault:
        asyncio.run(ask("http://model.example/v1"))
    assert KEY not in str(fault.value)


def test_stamina_switched_off_or_to_testing_means_fewer_tries_and_never_more():
    for attempts, tries in ((1, 1), (2, 2), (50, QUICK.tries)):
        notes = []
        with stamina.set_testing(True, attempts=attempts):
            hearing, it = asked(BUSY, waits=Waits(first=5, most=5), on_note=notes.append)
        assert len(it.bodies) == tries and isinstance(hearing.outcome, ProviderFault) and not notes
    stamina.set_active(False)
    try:
        hearing, it = asked(BUSY)
        assert len(it.bodies) == 1 and "come back later" in str(hearing.outcome)
        assert text(asked(WHOLE)[0]) == "ab"
    finally:
        stamina.set_active(True)


def test_the_users_random_numbers_stay_theirs():
    random.seed(7)
    state = random.getstate()
    asked(BUSY, BUSY, WHOLE, waits=Waits(first=0.01, jitter=0.01))
    assert random.getstate() == state


def test_retries_are_not_printed_where_nobody_set_up_logging(capfd, monkeypatch):
    """The handler of last resort would write stamina's record below the cell."""
    root = logging.getLogger()
    monkeypatch.setattr(root, "handlers", [])
    asked(BUSY, WHOLE)
    assert capfd.readouterr().err == ""

    theirs = stamina.RetryingCaller(attempts=2, wait_initial=0, wait_jitter=0)
    with pytest.raises(ValueError, match="theirs"):
        theirs(ValueError, int, "theirs")
    assert "stamina.retry_scheduled" in capfd.readouterr().err  # others' records go where they always went


def test_logs_that_somebody_set_up_have_the_retries_and_no_key(caplog, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    caplog.set_level(logging.DEBUG)
    echo = says({}, 503, x_echo=KEY)
    asked(echo, WHOLE, headers=lambda: {"authorization": f"Bearer {KEY}"}, query={"key": KEY})
    logged = [record for record in caplog.records if record.name.startswith(("httpx", "httpcore", "stamina"))]
    told = "\n".join(f"{record.getMessage()} {vars(record)}" for record in logged)
    assert {"httpx", "stamina"} <= {record.name for record in logged}
    assert "[OPENAI_API_KEY]" in told and KEY not in told


# ---- one question for JSON


def served(answer, path="/models", **headers):
    async def main():
        async with peer(answer) as it:
            return await asyncio.to_thread(get_json, it.url + path, headers, 2.0), it.heads[0]

    return asyncio.run(main())


def test_json_is_asked_for_once():
    data, head = served(says({"data": [1]}), authorization="Bearer x")
    assert data == {"data": [1]}
    assert head.startswith("GET /v1/models ") and "authorization: bearer x" in head.lower()


@pytest.mark.parametrize(
    "answer",
    [says({"error": {"message": "no"}}, 404), says(b"<html>"), says(b"", 302, location="/x"), drops, hangs],
)
def test_anything_else_is_a_fault(answer):
    with pytest.raises(ProviderFault) as fault:
        served_quickly(answer)
    assert "\n" not in str(fault.value)


def served_quickly(answer):
    async def main():
        async with peer(answer) as it:
            return await asyncio.to_thread(get_json, it.url, {}, 0.2)

    return asyncio.run(main())


def test_json_that_comes_too_slowly_is_not_waited_for():
    """Each piece comes in time, and all of them would take a minute."""
    slow = streams(*[b"[1, "] * 1_200, every=0.05, kind="application/json")
    with pytest.raises(ProviderFault, match="did not come to the end of its answer within"):
        served_quickly(slow)


def test_json_from_nowhere_is_a_fault():
    for url in ("nonsense", "http://[::1", ""):
        with pytest.raises(ProviderFault):
            get_json(url, {}, 1.0)
