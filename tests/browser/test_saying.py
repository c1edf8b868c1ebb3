"""What a run does right now, in its view and in the side panel: why it waits, what the model says, tools at work."""

import queue

import pytest
from playwright.sync_api import expect

from tests.agent import chatserver
from tests.agent.chatserver import ChatServer
from tests.browser import axe
from tests.browser.jupyterpage import JupyterPage
from tests.browser.liveview import LiveView
from tests.browser.sidepanel import SidePanel
from tests.browser.workshop import notebook

BUSY = {"error": {"message": "The engine is overloaded, please try again later"}}
LONG = "Contract 7 names the order and its cap, so I compare it with the next one before I answer. "
RIGHT_TO_LEFT = "\nالعقد السابع يذكر الطلب ORD-88421 وسقفه 125,000 يورو."
WIDE = "\n" + "w" * 300


class Talk:
    """A streamed answer whose pieces the test gives one by one; None ends it."""

    def __init__(self):
        self._pieces = queue.Queue()

    def say(self, *pieces):
        for piece in pieces:
            self._pieces.put(piece)

    def __call__(self, handler, _):
        handler.begin("text/event-stream")
        while (piece := self._pieces.get(timeout=60)) is not None:
            handler.event({"choices": [{"index": 0, "delta": {"content": piece}}]})
        handler.event({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
        handler.wfile.write(b"data: [DONE]\n\n")


@pytest.fixture
def jupyter(tab, lab):
    return JupyterPage(tab, lab, "lab/tree")


def test_a_person_sees_why_it_waits_and_then_the_text_as_it_comes(jupyter, shots):
    folder, talk = jupyter.server.folder / "saying", Talk()
    with ChatServer(chatserver.refuses(503, BUSY, retry_after="3"), talk) as server:
        cell = f"%%ethang --model vllm/demo?base_url={server.url} --window 8000\nWhich order is affected?"
        jupyter.open(notebook(folder, "saying", "%load_ext ethang_nb", cell, "after = 1"))
        panel = SidePanel(jupyter).open()
        jupyter.run(0)
        jupyter.start(1)
        view = LiveView(jupyter.view(1))
        places = [one.root.locator(".e-now") for one in (view, panel)]
        for place in places:
            expect(place).to_contain_text("waiting")
            expect(place).to_contain_text("503")
        for theme in ("dark", "light"):
            jupyter.theme(theme)
            shots.take(jupyter.page, "saying", "waits", theme)
            assert [] == axe.grave(jupyter.page, "#ethang-nb-panel")

        talk.say("The cap ")
        for place in places:
            expect(place).to_contain_text("the model is saying")
            expect(place).to_contain_text("The cap")
        before = [one.root.bounding_box()["height"] for one in (view, panel)]
        talk.say("is ", "in contract 7.")
        for place in places:
            expect(place).to_contain_text("The cap is in contract 7.")
        assert jupyter.running(1)
        talk.say("\n", LONG, LONG, LONG, "\n- ORD-88421\n- ORD-88422", RIGHT_TO_LEFT)
        for place in places:
            expect(place).to_contain_text("ORD-88421 وسقفه")
        for theme in ("light", "dark"):
            jupyter.theme(theme)
            shots.take(jupyter.page, "saying", theme)
            assert [] == axe.grave(jupyter.page, "#ethang-nb-panel")
        talk.say(WIDE)
        for place in places:
            expect(place).to_contain_text("w" * 300)
            assert place.evaluate("one => one.scrollWidth <= one.clientWidth")
        shots.take(jupyter.page, "saying", "wide")
        # Whatever it says, what stands below it stays where it is.
        assert before == [one.root.bounding_box()["height"] for one in (view, panel)]
        assert jupyter.running(1)

        talk.say("\nDone.", None)
        jupyter.finish(1)
    for place in places:
        expect(place).to_have_count(0)
    expect(jupyter.outputs(1)).to_contain_text("Done.")
    panel.button("notice").click()
    panel.says("step 1: .*503")
    jupyter.run(2)
