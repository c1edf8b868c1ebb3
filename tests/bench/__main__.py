"""`python -m tests.bench NAME …` runs benchmarks by name; without a name it lists them."""

import sys
from importlib import import_module

# Each is a module with a `main()` that prints. Loaded when asked for: their peers are heavy and may be missing.
BENCHES = {
    "tokens": "counting: against other counters, on megabytes of one thing, and whether a text is over a limit",
    "planner": "planning a step and a whole run, against other trimmers",
    "live": "an update of a live view of ten thousand segments, against the list as a synced trait",
    "browser": "views of ten thousand segments in Chromium: opening, scrolling, a slider's way to the kernel and back",
}


def main(names):
    unknown = [name for name in names if name not in BENCHES]
    if unknown or not names:
        said = "".join(f"\n  {name:<10}{what}" for name, what in BENCHES.items())
        print(
            f"{f'no benchmark is called {unknown[0]!r}; ' if unknown else ''}known are:{said}",
            file=sys.stderr,
        )
        return 2
    for name in names:
        try:
            bench = import_module(f"tests.bench.{name}")
        except ModuleNotFoundError as error:
            print(
                f"{name} needs {error.name}; `uv sync --group peers --group browser` brings it",
                file=sys.stderr,
            )
            return 1
        bench.main()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
