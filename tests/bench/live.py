"""What a live view costs the kernel: an appended segment as an update against the whole list as a synced trait.

All of it goes through ipykernel's own way out (`Session.send`: JSON, signature, ZMQ) in one interleaved run, with a
context of ten thousand segments that grows by one a round. Bytes are those of the messages on the socket.
"""

import json
import random
import time

import anywidget
import comm
import traitlets
import zmq
from jupyter_client.session import Session

from ethang_nb.context.outline import segments
from ethang_nb.context.snapshot import carried_pins, segment_data
from ethang_nb.views.live.document import About, Document
from ethang_nb.views.live.wire import parts, to_text
from tests.bench.timing import interleave, milliseconds, once, ratio, spread, times
from tests.views.live.examples import LARGE, large, more

ROUNDS, WARM = 15, 1
BLOCK = 20  # segments that come in a round: one alone may be of 20 tokens or of 2,000
WINDOW = 1_500_000
STEP = 10  # segments an update of the whole run, as reference/performance.md counts it: a thousand steps
ABOUT = About("bench", "words", "words, counted", "running")

GROWS, OURS = "the segment itself (append and request)", "ours: update, JSON, send"
PREPARED = "the list worked out by outline.segments, nothing sent"
TRAIT, LISTED = "the list as a trait, sending alone", "the list as a trait, worked out by outline.segments"


def main():
    with Kernel() as kernel:
        live, chronicle = large(LARGE, window=WINDOW)
        document = Document(live, chronicle, lambda: ABOUT)
        opened = once(document.full)
        whole = len(to_text(document.full()).encode())
        rounds = Rounds(kernel, live, document)
        taken = interleave(rounds.tasks(), rounds=ROUNDS, warm=WARM)
        taken[GROWS], taken[OURS] = rounds.grown[WARM:], rounds.told[WARM:]
        bytes_of = {name: kernel.bytes(task) for name, task in rounds.tasks().items()}
        bytes_of[OURS] //= BLOCK
        bytes_of[GROWS] = 0
        live.ask_cleanup()
        live.request()
        stage = kernel.bytes(rounds.tell)
        order = (GROWS, OURS, PREPARED, TRAIT, LISTED)
        print(f"one segment more at {live.state.next_row:,}; Nx: that many times what ours takes [quartiles]")
        for name in order:
            seconds = taken[name]
            against = "" if name in (GROWS, PREPARED, OURS) else times(ratio(seconds, taken[OURS]))
            print(f"  {name:<54}{milliseconds(seconds):<30}{bytes_of[name]:>12,} bytes  {against}")
        run = whole_run()
        print(f"  {'a cleanup':<54}{'':<30}{stage:>12,} bytes")
        print(f"  {'the whole document, first time':<54}{opened * 1e3:<30.3g}{whole:>12,} bytes")
        print(f"  a whole run of {LARGE:,} segments, updates every {STEP}: {run:,} bytes")
        goals(taken, bytes_of, stage, run)


def seconds_of(task):
    began = time.perf_counter()
    task()
    return time.perf_counter() - began


class Kernel:
    """The way out of a kernel: what comms send is serialised, signed and put on a socket, where it is counted."""

    def __enter__(self):
        context = zmq.Context.instance()
        self._out, self._in = context.socket(zmq.PUB), context.socket(zmq.SUB)
        self._out.sndhwm = self._in.rcvhwm = 0
        self._in.connect(f"tcp://127.0.0.1:{self._out.bind_to_random_port('tcp://127.0.0.1')}")
        self._in.setsockopt(zmq.SUBSCRIBE, b"")
        time.sleep(0.3)
        session, out = Session(key=b"0123456789abcdef"), self._out

        class Comm(comm.base_comm.BaseComm):
            def publish_msg(self, msg_type, data=None, metadata=None, buffers=None, **_):
                if out.closed:  # the widgets say goodbye when Python ends
                    return
                content = {"data": data or {}, "comm_id": self.comm_id}
                session.send(out, msg_type, content=content, metadata=metadata or {}, buffers=buffers)

        self._before, comm.create_comm = comm.create_comm, Comm
        return self

    def __exit__(self, *_):
        comm.create_comm = self._before
        self._out.close(0)
        self._in.close(0)

    def bytes(self, task):
        """How many bytes a task puts on the socket."""
        self._drain()
        task()
        return self._drain()

    def _drain(self):
        found, quiet = 0, 0
        while quiet < 5:
            if self._in.poll(40):
                found += sum(map(len, self._in.recv_multipart()))
                quiet = 0
            else:
                quiet += 1
        return found


class Listed(anywidget.AnyWidget):
    _esm = "export default {render() {}}"
    segments = traitlets.List().tag(sync=True)


class Rounds:
    """What a round does, in its order: the context grows, then each way tells of it."""

    def __init__(self, kernel, live, document):
        self.live, self.document = live, document
        self.chance = random.Random(1)
        self.ours_out, self.theirs, self.computed = Listed(), Listed(), Listed()
        self.prepared: list[dict] = []
        self.grown: list[float] = []
        self.told: list[float] = []

    def tasks(self):
        return {OURS: self.ours, PREPARED: self.prepare, TRAIT: self.trait, LISTED: self.worked_out}

    def ours(self):
        """A block of segments, each told of as it comes; seconds of one are kept apart from those of the view."""
        grown, told = [], []
        for _ in range(BLOCK):
            grown.append(seconds_of(lambda: more(self.live, self.chance)))
            told.append(seconds_of(self.tell))
        self.grown.append(sum(grown) / BLOCK)
        self.told.append(sum(told) / BLOCK)

    def prepare(self):
        """The list that `trait` sends: new objects each time, as whoever works it out has them."""
        self.prepared = self.listed()

    def tell(self):
        for part in parts(to_text({"t": "frame", "rev": 1, "base": 0, **self.document.update()})):
            self.ours_out.send(part)

    def trait(self):
        self.theirs.segments = self.prepared

    def worked_out(self):
        self.computed.segments = self.listed()

    def listed(self):
        carried = carried_pins(self.live.pins)
        return [segment_data(item, carried.get(item.id)) for item in segments(self.live)]


def whole_run():
    """Bytes of all frames' texts while a context grows from nothing."""
    live, chronicle = large(1, window=WINDOW)
    document = Document(live, chronicle, lambda: ABOUT)
    chance, told = random.Random(7), len(json.dumps(document.full()))
    while live.state.next_row < LARGE:
        for _ in range(STEP):
            more(live, chance)
        told += len(to_text(document.update()).encode())
    return told


def goals(taken, bytes_of, stage, run):
    alone, listed = ratio(taken[TRAIT], taken[OURS]), ratio(taken[LISTED], taken[OURS])
    fewer = bytes_of[TRAIT] / bytes_of[OURS]
    ours = spread(taken[OURS]).median * 1e3
    rows = [
        ("bytes of an appended segment", "<= 2,000", f"{bytes_of[OURS]:,}", bytes_of[OURS] <= 2_000),
        ("bytes against the trait", ">= 100x", f"{fewer:,.0f}x", fewer >= 100),
        ("kernel time against the trait, sending alone", ">= 100x", times(alone), alone.median >= 100),
        ("kernel time against the trait, list worked out", ">= 100x", times(listed), listed.median >= 100),
        ("kernel time of an appended segment", "", f"{ours:.3g} ms", True),
        ("bytes of a cleanup", "<= 16,000", f"{stage:,}", stage <= 16_000),
        ("bytes of a whole run", "<= 5,000,000", f"{run:,}", run <= 5_000_000),
    ]
    print("\ngoals")
    for what, goal, shown, met in rows:
        print(f"  {'met' if met else 'NOT MET':<9}{what:<54}{goal:>14}{shown:>32}")
