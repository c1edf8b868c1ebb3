"""Planning against other trimmers: one message more and a plan, a slider, a whole run, and what it all takes.

Peers keep messages under a limit of tokens by their own rules; ours plans in a window with as much room. Each gets the
transcript in its own type beforehand. What ours does per message is shown twice: the fold with its exact count, and
`Context` as a caller has it, from dict to the list to be sent.
"""

import gc
import random
import sys
import tracemalloc
from functools import partial

from langchain.agents.middleware.context_editing import ClearToolUsesEdit
from langchain.agents.middleware.summarization import SummarizationMiddleware
from langchain_core.language_models.fake_chat_models import FakeListChatModel
from langchain_core.messages import trim_messages
from langchain_core.messages.utils import convert_to_messages, count_tokens_approximately

import ethang_nb as eth
from ethang_nb.context.planner import decide
from ethang_nb.context.refold import refold
from ethang_nb.context.window import Window
from ethang_nb.formats.detect import to_messages
from ethang_nb.tokens.ranks import load
from tests.bench.folding import NUDGE_TOKENS, Fold, Reading, counted, feed
from tests.bench.timing import interleave, milliseconds, once, ratio, spread, times
from tests.bench.transcripts import transcript

MODEL = "gpt-4o"
LIMITS = {100: 12_000, 1_000: 100_000, 10_000: 100_000}  # messages of the transcript -> tokens of the limit
LARGEST = max(LIMITS)
ROUNDS = 7
BLOCK = 20  # messages that ours takes in a round: one alone may be of 20 tokens or of 20,000
MOVES = 300
SAMPLES = 40  # steps of a whole run at which a peer is timed, the rest is reckoned from
OVERHEAD = 4  # tokens of role and separators, which ours counts too

EXACT, APPROXIMATE, CACHED = "trim_messages, tiktoken", "trim_messages, approximate", "trim_messages, counts kept"
SUMMARIZES, CLEARS = "SummarizationMiddleware, below its trigger", "ClearToolUsesEdit, approximate"
FOLD, WHOLE, AGAIN = "ours: count and plan", "ours: Context, dict to list", "ours: plan, counts kept"


def main():
    print("one message more and a plan; Nx: ours is that many times faster [quartiles of paired ratios]")
    taken = {size: one_more(size) for size in LIMITS}
    slider = slider_moves()
    full, run = from_counts()
    row, live = memory()
    goals(taken, slider, full, run, row, live)


# ---- one message more


def one_more(size):
    """Seconds a message, per task, in rounds that all tasks share."""
    limit, more = LIMITS[size], (ROUNDS + 1) * BLOCK
    dicts = transcript(size + more)
    ours = ours_at(dicts, size, limit)
    tasks = {name: partial(_each, name_task) for name, name_task in ours.items()}
    taken = interleave(tasks | peers_at(dicts, size, limit), rounds=ROUNDS)
    for name in ours:
        taken[name] = [seconds / BLOCK for seconds in taken[name]]
    print(f"\n{size:,} messages, limit {limit:,} tokens")
    for name in ours:
        print(f"  {name:<42}{milliseconds(taken[name])}")
    print(f"  {'':<42}{'':<32}{FOLD:>28}{WHOLE:>30}")
    for name in taken.keys() - ours.keys():
        against = "".join(f"{times(ratio(taken[name], taken[own])):>29}" for own in (FOLD, WHOLE))
        print(f"  {name:<42}{milliseconds(taken[name]):<32}{against}")
    return taken


def _each(task):
    for _ in range(BLOCK):
        task()


def ours_at(dicts, size, limit):
    """What ours does with one message more, each task with a transcript of its own that stands at `size` messages."""
    window = window_of(limit)
    messages = to_messages(dicts)
    events = counted(messages, window)
    counting, kept = Fold(window), Fold(window)
    for fold in (counting, kept):
        for event in events[:size]:
            fold.take(event)
    reading = Reading(window, messages[:size])
    coming, stored, plain = iter(messages[size:]), iter(events[size:]), iter(dicts[size:])
    context = eth.Context(window, model=MODEL)
    feed(context, dicts[:size])

    def count_and_plan():
        counting.take(reading.event(next(coming)))
        counting.plan()

    def plan_again():
        kept.take(next(stored))
        kept.plan()

    def whole():
        context.append(next(plain))
        return context.request()

    return {FOLD: count_and_plan, WHOLE: whole, AGAIN: plan_again}


def peers_at(dicts, size, limit):
    encode, known = load("o200k_base").encode_ordinary, {}
    messages = convert_to_messages(dicts)
    for number, message in enumerate(messages):
        message.id = str(number)

    def exact(given):
        return sum(len(encode(message.content)) + OVERHEAD for message in given)

    def cached(given):
        total = 0
        for message in given:
            tokens = known.get(message.id)
            if tokens is None:
                tokens = known[message.id] = len(encode(message.content)) + OVERHEAD
            total += tokens
        return total

    cached(messages[:size])
    rounds = {name: iter(range(size + 1, len(messages))) for name in (EXACT, APPROXIMATE, CACHED, SUMMARIZES, CLEARS)}

    def grown(name):
        return messages[: next(rounds[name])]

    def trim(name, counter):
        return trim_messages(
            grown(name), max_tokens=limit, strategy="last", token_counter=counter, include_system=True
        )

    summarizes = SummarizationMiddleware(
        model=FakeListChatModel(responses=["summary"]),
        trigger=("tokens", sys.maxsize),
        keep=("tokens", limit // 2),
        token_counter=count_tokens_approximately,
    )
    clears = ClearToolUsesEdit(trigger=limit, keep=3)
    return {
        EXACT: lambda: trim(EXACT, exact),
        APPROXIMATE: lambda: trim(APPROXIMATE, count_tokens_approximately),
        CACHED: lambda: trim(CACHED, cached),
        SUMMARIZES: lambda: summarizes.before_model({"messages": grown(SUMMARIZES)}, None),
        CLEARS: lambda: clears.apply(grown(CLEARS), count_tokens=count_tokens_approximately),
    }


# ---- a slider, a full plan, a whole run


def slider_moves():
    """Milliseconds of a move to random levels: the decisions alone, and with the fill of every step."""
    timeline = eth.replay(transcript(LARGEST), window_of(LIMITS[LARGEST]), model=MODEL)
    source, alone, with_fills, decided = random.Random(1), [], [], []
    for _ in range(MOVES):
        cleanup = source.randint(300, 950)
        landing = source.randint(50, cleanup - 100)
        levels = (source.randint(landing + 1, cleanup - 1), cleanup, landing)
        alone.append(once(lambda levels=levels: timeline.move(levels=levels), collect=False))
        moved = []
        with_fills.append(
            once(lambda levels=levels, moved=moved: moved.append(_filled(timeline, levels)), collect=False)
        )
        decided.append(len(moved[0].plans_made))
    print(f"\nslider, {MOVES} random levels over {LARGEST:,} messages, {len(timeline):,} requests")
    print(f"  decisions a move: {min(decided)} to {max(decided)}")
    for name, seconds in (("decisions", alone), ("decisions, and the fill of every request", with_fills)):
        print(f"  {name:<42}{percentiles(seconds)}")
    return alone


def _filled(timeline, levels):
    moved = timeline.move(levels=levels)
    moved.fills  # noqa: B018 - worked out when asked for
    return moved


def percentiles(seconds):
    ordered = sorted(seconds)
    p50, p95 = ordered[len(ordered) // 2], ordered[int(len(ordered) * 0.95)]
    return f"p50 {p50 * 1e3:.3g} ms, p95 {p95 * 1e3:.3g} ms, max {ordered[-1] * 1e3:.3g} ms"
