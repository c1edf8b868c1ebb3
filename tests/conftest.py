"""Rules for every test: a home of its own, and in strict mode no test left out.

`ETHANG_STRICT=1` (set by .ci/run) makes each skip a failure that names its reason: CI installs whatever a
skip might be waiting for, so there a skip hides a fault.
"""

import os

import pytest

STRICT = os.environ.get("ETHANG_STRICT") == "1"

# Notebooks below tests/ are material for tests, not tests.
collect_ignore_glob = ["**/*.ipynb"]


@pytest.fixture(autouse=True)
def home(tmp_path_factory, monkeypatch):
    """An empty home for one test: what it records is gone with it, and no other test's record is found."""
    folder = tmp_path_factory.mktemp("home")
    for name in ("HOME", "ETHANG_HOME", "IPYTHONDIR"):
        path = folder / name.lower()
        path.mkdir()
        monkeypatch.setenv(name, str(path))
    return folder


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    if STRICT and report.skipped and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"{item.nodeid}: skipped under ETHANG_STRICT=1: {_reason(report)}"
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector):
    report = yield
    if STRICT and report.skipped:
        report.outcome = "failed"
        report.longrepr = f"{collector.nodeid}: skipped under ETHANG_STRICT=1: {_reason(report)}"
    return report


def _reason(report):
    return report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
