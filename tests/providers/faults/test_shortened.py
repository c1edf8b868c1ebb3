"""Signs of a full window inside a reply that says nothing of it, and what must not be taken for one."""

from ethang_nb.context.messages import ToolCall, assistant
from ethang_nb.context.shortening import Reading
from ethang_nb.context.window import Window
from ethang_nb.errors import Overflow
from ethang_nb.providers.faults.shortened import silent_overflow
from ethang_nb.providers.protocol import Reply, Usage

WINDOW = Window.of(8_000, source="given")  # reserve 1,600


def reply(read=None, written=50, *, stop="end", text="Yes.", calls=(), **usage):
    return Reply(
        message=assistant(text, calls=calls), stop=stop, usage=Usage(input=read, output=written, **usage)
    )


def judged(answer, own=100, before=None, window=WINDOW):
    return silent_overflow(answer, own=own, window=window, before=before)


# The request was shortened


def test_ollama_s_silent_shortening():
    fault = judged(reply(2_050), own=7_900, window=Window.of(131_072, source="snapshot"))
    assert isinstance(fault, Overflow)
    assert (7_900, 2_050, None) == (fault.tokens, fault.limit, fault.room)
    assert "2,050 of about 7,900" in str(fault) and "131,072 (snapshot)" in str(fault)
    assert "\n" not in str(fault)


def test_the_sign_is_below_600_per_mille_of_our_own_count():
    assert judged(reply(599), own=1_000)
    assert not judged(reply(600), own=1_000)


def test_a_short_request_says_nothing():
    assert not judged(reply(500), own=999)


def test_a_report_that_falls_while_the_history_grew():
    before = Reading(own=3_600, input=3_900)
    assert judged(reply(3_000), own=3_700, before=before)
    assert not judged(reply(3_890), own=3_700, before=before), "tokenizers may merge a little"


def test_a_report_that_falls_with_the_history():
    """After a cleanup there is less to read."""
    assert not judged(reply(1_500), own=1_450, before=Reading(own=3_600, input=3_900))


def test_a_tokenizer_that_counts_far_less_than_ours_is_learned_from_the_report_before():
    before = Reading(own=2_000, input=1_100)
    assert not judged(reply(1_650), own=3_000, before=before)
    assert judged(reply(800), own=2_200, before=before)


def test_more_tokens_than_ours_are_no_sign():
    assert not judged(reply(4_500), own=3_000)


def test_a_phantom_report_is_no_sign():
    for read in (0, 1, 20, 199):
        assert not judged(reply(read), own=5_000)


def test_a_report_without_what_was_cached_is_no_sign():
    """Some servers count only what they had not read before: about what is new."""
    before = Reading(own=5_000, input=5_600)
    assert not judged(reply(330), own=5_300, before=before)
    assert not judged(reply(2_100), own=7_000, before=before)


def test_a_large_result_that_is_cut_is_a_sign_although_it_is_new():
    assert judged(reply(2_050), own=8_000, before=Reading(own=2_000, input=2_200))


def test_a_report_below_its_own_cached_tokens_is_not_trusted():
    assert not judged(reply(600, cached=4_000), own=5_000)
    assert judged(reply(600, cached=500), own=5_000)


def test_no_report_no_sign():
    silent = Reply(message=assistant("Yes."), stop="length", usage=None)
    assert not judged(silent, own=5_000)
    assert not judged(reply(None, None), own=5_000)


# The answer ended where the window does


def test_an_answer_cut_by_the_window_and_not_by_its_own_limit():
    fault = judged(reply(7_000, 1_000, stop="length"))
    assert isinstance(fault, Overflow)
    assert (8_600, 8_000, 1_000) == (fault.tokens, fault.limit, fault.room)


def test_an_answer_cut_by_its_own_limit_is_no_sign():
    assert not judged(reply(7_000, 1_600, stop="length")), "it got all that was kept for it"
    assert not judged(reply(5_000, 900, stop="length")), "there was room"


def test_an_answer_that_got_all_it_asked_for_is_no_sign():
    """After a refusal that named the room left, just that is asked for: the answer then ends where the window does."""
    full = reply(7_000, 1_000, stop="length")
    assert not silent_overflow(full, own=100, window=WINDOW, asked=1_000)
    assert silent_overflow(full, own=100, window=WINDOW, asked=1_001)


def test_a_window_smaller_than_given_ends_the_answer():
    """Both replies of a llama.cpp server with 2,048 tokens to a session that was told 8,000."""
    for read, written in ((1_671, 377), (1_878, 170)):
        fault = judged(reply(read, written, stop="length"))
        assert isinstance(fault, Overflow)
        assert (read + 1_600, 2_048, written) == (fault.tokens, fault.limit, fault.room)
        assert f"after {written} of the 1,600 tokens asked for" in str(fault)
        assert "2,048: there the server's window ends, not at 8,000 (given)" in str(fault)
        assert "\n" not in str(fault)


def test_a_limit_of_the_output_alone_is_no_smaller_window():
    """A server's own n_predict, or a model that puts out no more: the sum is any number, the output a round one."""
    assert not judged(reply(1_671, 378, stop="length")), "no size of a window"
    assert not judged(reply(1_536, 512, stop="length")), "the output is a limit's size"
    assert not judged(reply(1_798, 250, stop="length"))
    assert judged(reply(1_797, 251, stop="length"))


def test_nearly_all_that_was_asked_for_is_no_smaller_window():
    assert judged(reply(2_657, 1_439, stop="length"))
    assert not judged(reply(2_655, 1_441, stop="length"))
    asked = silent_overflow(reply(1_671, 377, stop="length"), own=100, window=WINDOW, asked=377)
    assert asked is None, "all of it"


def test_only_an_answer_that_was_cut_shows_a_smaller_window():
    assert not judged(reply(1_671, 377, stop="end"))
    assert not judged(reply(1_671, 377, stop="calls"))
    assert not judged(reply(1_671, 377, stop="cut"))


def test_llama_cpp_s_completed_answer_that_fills_the_window_to_the_token():
    assert judged(reply(7_000, 1_000, stop="end"))
    assert not judged(reply(7_000, 999, stop="end"))


def test_an_answer_past_a_window_that_was_assumed_too_small_is_no_sign():
    """Who tries a small window on a large model gets whole answers that end beyond it."""
    assert not judged(reply(7_900, 400, stop="end"))
    assert not judged(reply(7_900, 400, stop="calls"))


def test_a_request_that_left_no_room_at_all():
    fault = judged(reply(8_000, 0, stop="length", text=""))
    assert isinstance(fault, Overflow)
    assert (8_000, 8_000) == (fault.tokens, fault.limit)


def test_no_room_in_a_window_smaller_than_assumed_names_what_was_read():
    fault = judged(reply(4_096, 0, stop="length", text=""))
    assert isinstance(fault, Overflow)
    assert (4_096, 4_096) == (fault.tokens, fault.limit)
    small = judged(reply(30, 0, stop="length", text=""))
    assert isinstance(small, Overflow)
    assert small.limit is None, "a number that cannot be a window is not learned"


def test_an_empty_answer_for_other_reasons_is_no_sign():
    assert not judged(reply(8_000, 0, stop="end", text="")), "it had nothing to say"
    assert not judged(reply(5_000, 0, stop="length", text="", reasoning=1_600)), "it thought until its limit"
    assert not judged(reply(5_000, 1_600, stop="length", text="")), "it wrote what nobody sees"
    assert not judged(reply(5_000, 0, stop="length")), "a report of 0 beside a text is none"
    call = ToolCall(id="c", name="look", arguments="{}")
    assert not judged(reply(5_000, 0, stop="length", text="", calls=[call]))
    assert not judged(reply(8_000, None, stop="length", text="")), "not told is not 0"
