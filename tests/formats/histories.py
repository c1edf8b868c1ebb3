"""Generated histories: legal ones, and tangles of everything that a message can wrongly hold."""

from dataclasses import replace

from hypothesis import strategies as st

from ethang_nb.context.messages import (
    Image,
    Message,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    assistant,
    clean,
    system,
    tool,
)

TEXTS = st.one_of(
    st.sampled_from(
        ("ok", "two\nlines", " ", "a\u2028b", "null", "None", "{}", "\U0001f600", "[image left out]")
    ),
    st.text(max_size=6).map(clean),
)
FILLED = TEXTS.filter(bool)
VISIBLE = TEXTS.filter(str.strip)
IDS = st.sampled_from(("a", "b", "http", "a_2", "functions.look:0", "x" * 70, "x" * 71, ""))
NAMES = st.sampled_from(("look", "write"))
ARGUMENTS = st.one_of(
    st.sampled_from(
        (
            "",
            " ",
            "null",
            "{}",
            "[]",
            '"{}"',
            '{"a": 1}',
            '{"a":{"b":[1.5,null,true]}}',
            '{"body": "abc',
            '{"n": NaN}',
            '{"big": 1e999}',
            '{"half": "\\ud83d"}',
            '{"arguments_as_written":"x"}',
            '{"arguments_as_written":1}',
        )
    ),
    FILLED,
)
IMAGES = st.one_of(
    st.builds(
        Image, media_type=st.sampled_from(("image/png", "image/jpeg")), data=st.sampled_from(("AAAA", "iVBO"))
    ),
    st.builds(Image, url=st.just("https://example.org/a.png")),
)
THINKING = st.one_of(
    st.builds(Thinking, text=TEXTS, signature=st.sampled_from(("", "c2ln", "EqQB/+8="))),
    st.builds(Thinking, redacted=st.just("b3BhcXVl")),
)
CALLS = st.builds(ToolCall, id=IDS, name=NAMES, arguments=ARGUMENTS)
RESULTS = st.builds(
    ToolResult,
    call_id=IDS,
    name=NAMES,
    text=TEXTS,
    images=st.lists(IMAGES, max_size=2).map(tuple),
    error=st.booleans(),
)
PARTS = st.one_of(st.builds(Text, text=TEXTS), IMAGES, THINKING, CALLS, RESULTS)
TANGLED = st.builds(
    Message,
    role=st.sampled_from(("system", "user", "assistant", "assistant", "tool", "tool")),
    parts=st.lists(PARTS, max_size=4).map(tuple),
)
TANGLES = st.lists(
    st.one_of(
        TANGLED,
        st.lists(CALLS, min_size=1, max_size=3).map(lambda calls: assistant("", calls)),
        RESULTS.map(tool),
    ),
    max_size=9,
)


@st.composite
def turns(draw):
    """An assistant message with calls of different ids, and their results in call order."""
    ids = draw(st.lists(IDS.filter(bool), min_size=1, max_size=3, unique=True))
    parts = draw(st.lists(st.one_of(THINKING, st.builds(Text, text=FILLED)), max_size=2))
    calls = [ToolCall(id=call_id, name=draw(NAMES), arguments=draw(ARGUMENTS)) for call_id in ids]
    results = [draw(_answers(call)) for call in calls]
    asked = Message(role="assistant", parts=(*parts, *calls), source="model", trust="agent")
    return (asked, *map(tool, results))


def _answers(call):
    images = st.lists(IMAGES, max_size=2).map(tuple)
    return st.builds(
        ToolResult,
        call_id=st.just(call.id),
        name=st.just(call.name),
        text=TEXTS,
        images=images,
        error=st.booleans(),
    )


USERS = st.builds(
    Message,
    role=st.just("user"),
    parts=st.lists(st.one_of(st.builds(Text, text=FILLED), IMAGES), min_size=1, max_size=3).map(tuple),
    source=st.sampled_from(("person", "name:alice")),
)
ANSWERS = st.builds(
    Message,
    role=st.just("assistant"),
    parts=st.tuples(
        st.lists(THINKING, max_size=1), st.lists(st.builds(Text, text=FILLED), min_size=1, max_size=2)
    ).map(lambda both: (*both[0], *both[1])),
    source=st.sampled_from(("model", "refusal")),
    trust=st.just("agent"),
)
SYSTEMS = st.one_of(FILLED.map(system), FILLED.map(lambda text: system(text, source="developer")))
HISTORIES = st.lists(
    st.one_of(
        SYSTEMS.map(lambda one: (one,)),
        USERS.map(lambda one: (one,)),
        ANSWERS.map(lambda one: (one,)),
        turns(),
    ),
    max_size=6,
).map(lambda groups: [message for group in groups for message in group])
"""Legal histories; ids may come again in later turns."""


def marked(history):
    """The history with a mark at the front of every text in it, and the marks."""
    marks = []

    def mark(text):
        marks.append(f"«{len(marks)}»")
        return f"{marks[-1]}{text}"

    def own(part):
        match part:
            case Text(text="") | Image():
                return part
            case ToolCall():
                return replace(part, arguments=mark(part.arguments))
            case Thinking() if part.redacted:
                return part
            case _:
                return replace(part, text=mark(part.text))

    return [replace(one, parts=tuple(own(part) for part in one.parts)) for one in history], marks


def texts(messages):
    """Every text of the messages in order, arguments and thinking among them."""
    return [
        part.arguments if isinstance(part, ToolCall) else getattr(part, "text", "")
        for message in messages
        for part in message.parts
    ]
