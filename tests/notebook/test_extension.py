"""Loading and unloading: what is registered, that twice is once, and that nothing stays."""

import gc
import threading
import weakref

import pytest

import ethang_nb
from ethang_nb.agent.opening import find_open
from ethang_nb.notebook import extension
from ethang_nb.notebook.extension import unload
from ethang_nb.notebook.naming import LONGEST, notebook_name


def state(shell):
    """Everything loading may touch."""
    return (
        sorted(shell.magics_manager.magics["line"]),
        sorted(shell.magics_manager.magics["cell"]),
        sorted(shell.magics_manager.registry),
        list(shell.configurables),
        list(shell.Completer.custom_matchers),
        list(shell.input_transformers_cleanup),
        sorted(shell.user_ns),
        {name: [str(item) for item in found] for name, found in shell.events.callbacks.items()},
    )


def test_unloading_leaves_nothing(shell, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    before = state(shell)
    ethang_nb.load_ipython_extension(shell)
    assert before != state(shell)
    ethang_nb.unload_ipython_extension(shell)
    assert before == state(shell)


def test_unloading_lets_go_of_its_sessions(shell):
    ethang_nb.load_ipython_extension(shell)
    sessions = weakref.ref(extension._of(shell).sessions)
    ethang_nb.unload_ipython_extension(shell)
    gc.collect()
    assert sessions() is None


def test_loading_twice_is_loading_once(shell):
    ethang_nb.load_ipython_extension(shell)
    once = state(shell)
    ethang_nb.load_ipython_extension(shell)
    assert once == state(shell)
    ethang_nb.unload_ipython_extension(shell)
    ethang_nb.unload_ipython_extension(shell)
    assert "ethang" not in shell.magics_manager.magics["line"]


def test_loading_touches_no_file_and_starts_no_thread(shell, tmp_path, home, monkeypatch):
    monkeypatch.chdir(tmp_path)
    threads = threading.active_count()
    ethang_nb.load_ipython_extension(shell)
    assert threads == threading.active_count()
    unload(shell)
    assert [] == list(tmp_path.iterdir())
    assert [] == list((home / "ethang_home").iterdir())


def test_unloading_closes_what_cells_opened(notebook):
    notebook.run("%%ethang --model script:say.yaml\nsay")
    session = find_open("audit")
    unload(notebook.shell)
    assert session.closed
    assert find_open("audit") is None


def test_unloading_leaves_sessions_of_python_open(notebook):
    with ethang_nb.Session("reader", name="mine") as session:
        notebook.run("%ethang status --session mine")
        unload(notebook.shell)
        assert not session.closed


def test_reloading_goes_on_with_the_record(notebook):
    notebook.run("%%ethang --model script:say.yaml\nsay")
    notebook.run("%reload_ext ethang_nb")
    assert "at rest after 1 step" in str(notebook.run("%ethang status").value)


def test_the_magics_are_gone_after_unloading(notebook):
    unload(notebook.shell)
    assert "not found" in notebook.fails("%ethang status").text


def test_config_sets_and_shows_the_settings(notebook):
    notebook.run("%config Ethang.window = 5000")
    assert 5000 == notebook.run("%config Ethang.window").value
    assert "Window in tokens" in notebook.run("%config Ethang").text
    notebook.run("%config Ethang.window = None")
    assert notebook.run("%config Ethang.window").value is None


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("window = 12", "window in %config is 12; give a whole number of tokens"),
        ("policy = 'presure'", "unknown policy in %config 'presure'; did you mean 'pressure'?"),
        ("model = 'reder'", "unknown model in %config 'reder'; did you mean 'reader'?"),
    ],
)
def test_config_refuses_what_cannot_be(notebook, caplog, line, said):
    """IPython says it in one line, and the extension can be loaded again all the same."""
    notebook.run(f"%config Ethang.{line}")
    assert [said] == [record.getMessage()[: len(said)] for record in caplog.records]
    assert notebook.run(f"%config Ethang.{line.split()[0]}").value is None
    with pytest.warns(UserWarning, match="it is not used"):
        notebook.run("%reload_ext ethang_nb")
    assert "Three examples" in str(notebook.run("%ethang help").value)


def test_settings_of_a_profile_are_those_of_the_extension(notebook):
    unload(notebook.shell)
    notebook.shell.config.Ethang.window = 5000
    notebook.shell.config.Ethang.windw = 6000
    with pytest.warns(UserWarning, match="'windw'; did you mean 'window'"):
        ethang_nb.load_ipython_extension(notebook.shell)
    assert 5000 == notebook.run("%config Ethang.window").value


class Shell:
    def __init__(self, path=""):
        self.config = {"IPKernelApp": {"connection_file": path}} if path else {}


def test_a_notebooks_session_is_called_after_it():
    assert "audit" == notebook_name(
        Shell("/run/kernel-1a2b.json"), {"JPY_SESSION_NAME": "/home/me/audit.ipynb"}
    )
    assert "audit" == notebook_name(Shell(), {"JPY_SESSION_NAME": "C:\\work\\audit.ipynb"})
    assert "1a2b-3c" == notebook_name(Shell("/run/kernel-1a2b-3c.json"), {})
    assert "session" == notebook_name(Shell(), {"JPY_SESSION_NAME": ""})


def test_a_long_or_unprintable_name_of_a_notebook_is_made_fit():
    assert LONGEST == len(notebook_name(Shell(), {"JPY_SESSION_NAME": f"{'n' * 200}.ipynb"}))
    assert "a_b" == notebook_name(Shell(), {"JPY_SESSION_NAME": "a\nb.ipynb"})
