"""Folders with a notebook to open and scripts for its agent, and a look into the record that a run leaves there."""

import json
import sqlite3
from contextlib import closing

import nbformat
import yaml
from nbformat.v4 import new_code_cell, new_notebook

# What WID-07 and WID-08 of the field faults send: markup that would run, and characters that turn a line round.
HOSTILE = (
    '<img src=x onerror="window.p=1"><script>window.p=2</script></pre><b>hi</b> '
    "a\u202etxt.exe\u202c \u0007\u001b]0;title\u0007"
)

LOAD = f"""%load_ext ethang_nb
import time
import ethang_nb as eth

@eth.tool
def nap(number: int) -> str:
    "Rests for a moment."
    time.sleep(0.2)
    return f"nap {{number}} was taken. " + "It was quiet all around. " * 12

@eth.tool
def hostile() -> str:
    "Returns what nobody should run."
    return {HOSTILE!r}
"""

LONG = "%%ethang --model script:long.yaml --window 3000 --tools nap\nRest a hundred times, and never wake me."
SHORT = (
    "%%ethang --model script:short.yaml --window 3000 --tools nap\nRest four times. Never open contract_17."
)
HARM = "%%ethang --model script:harm.yaml --window 3000 --tools hostile\nShow me <b>the worst</b>."


def _naps(count):
    return [{"call": [{"name": "nap", "arguments": {"number": number}}]} for number in range(1, count + 1)]


SCRIPTS = {
    # The first answer is slow to come, so that what is shown by then was shown before anything happened.
    "long": [{**_naps(1)[0], "delay": 4}, *_naps(100), {"say": "rested"}],
    "short": [*_naps(4), {"say": "rested four times"}],
    "harm": [{"call": [{"name": "hostile", "arguments": {}}]}, {"say": HOSTILE}],
}


def notebook(folder, name, *cells):
    """Writes `name.ipynb` with these cells into `folder`, beside the scripts they play."""
    folder.mkdir(parents=True, exist_ok=True)
    for script, turns in SCRIPTS.items():
        (folder / f"{script}.yaml").write_text(yaml.safe_dump({"turns": turns}))
    found = new_notebook(cells=[new_code_cell(cell) for cell in cells])
    found.metadata["kernelspec"] = {
        "name": "python3",
        "display_name": "Python 3 (ipykernel)",
        "language": "python",
    }
    path = folder / f"{name}.ipynb"
    nbformat.write(found, path)
    return path


def recorded(folder, session):
    """The events of a session as (kind, time, data), read beside the kernel that writes them."""
    with closing(sqlite3.connect(folder / ".ethang" / "ethang.db")) as found:
        rows = found.execute(
            "SELECT kind, at, data FROM event JOIN session ON session.id = event.session WHERE name = ? ORDER BY seq",
            (session,),
        ).fetchall()
    return [(kind, at, json.loads(data)) for kind, at, data in rows]


def kinds(folder, session):
    return [kind for kind, _, _ in recorded(folder, session)]
