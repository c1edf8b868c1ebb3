"""The public names: listed, sorted, loaded when they are used, and each of them there."""

import ast
import inspect
import subprocess
import sys
from pathlib import Path

import pytest

import ethang_nb as eth

NAMES = [name for name in eth.__all__ if "ipython" not in name]


def test_the_list_is_sorted_and_holds_each_name_once():
    """Types first, then functions: as Python sorts them."""
    assert eth.__all__ == sorted(set(eth.__all__))


def test_dir_shows_what_is_public():
    assert dir(eth) == sorted([*eth.__all__, "__version__"])


@pytest.mark.parametrize("name", eth.__all__)
def test_every_name_is_there(name):
    value = getattr(eth, name)
    assert value is not None
    assert getattr(eth, name) is value
    if inspect.isclass(value) or inspect.isfunction(value):
        assert inspect.getdoc(value), f"{name} has no docstring"


def test_every_name_is_loaded_only_when_it_is_used():
    code = (
        "import sys, ethang_nb\n"
        "loaded = lambda: {m for m in sys.modules if m.startswith('ethang_nb.')}\n"
        "before = loaded()\n"
        "ethang_nb.Window\n"
        "print(sorted(before), 'ethang_nb.context.window' in loaded(), 'ethang_nb.agent.session' in loaded())"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[] True False"


def test_type_checkers_see_the_names_that_are_loaded_lazily():
    """What stands under TYPE_CHECKING is what __getattr__ gives."""
    tree = ast.parse(Path(eth.__file__).read_text(encoding="utf-8"))
    guarded = next(node for node in tree.body if isinstance(node, ast.If))
    told = {
        alias.asname or alias.name: (node.module, alias.name)
        for node in guarded.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    homes = {}
    for name, home in eth._HOMES.items():
        module, _, attribute = home.partition(":")
        homes[name] = (f"ethang_nb.{module}", attribute or name)
    assert told == homes
    assert sorted(told) == NAMES


def test_a_name_that_is_none_is_an_attribute_error():
    with pytest.raises(AttributeError, match="module 'ethang_nb' has no attribute 'Sesion'"):
        eth.Sesion  # noqa: B018
    assert not hasattr(eth, "session")


def test_the_submodules_re_export_nothing():
    """One way in: inner packages hold a docstring and no names."""
    for path in Path(eth.__file__).parent.glob("*/__init__.py"):
        body = ast.parse(path.read_text(encoding="utf-8")).body
        assert [type(node).__name__ for node in body] == ["Expr"], path


@pytest.mark.parametrize(
    "module",
    sorted(
        ".".join(path.relative_to(Path(eth.__file__).parent.parent).with_suffix("").parts)
        for room in ("agent", "context", "experiments", "formats", "providers", "store", "tokens")
        for path in (Path(eth.__file__).parent / room).rglob("*.py")
        if path.stem != "__init__"
    ),
)
def test_a_module_says_what_it_gives_and_gives_it(module):
    """`__all__` lists names that exist, sorted as the linter sorts them."""
    loaded = __import__(module, fromlist=["__all__"])
    for name in loaded.__all__:
        assert hasattr(loaded, name), name
    assert inspect.getdoc(loaded)
