"""A page of JupyterLab or Notebook 7: its notebooks, cells and kernels.

Clicks and keys right after a load get lost, so notebooks are driven by the application's own commands; what is
tested, our views, is driven by mouse and keyboard.
"""

import ast
import json

_READY = """() => {
  const widget = window.jupyterapp?.shell.currentWidget;
  return widget?.context?.isReady && widget.sessionContext?.session?.kernel?.status === 'idle';
}"""
_EXECUTE = """async code => {
  const kernel = window.jupyterapp.shell.currentWidget.sessionContext.session.kernel;
  const reply = await kernel.requestExecute({ code, silent: true, store_history: false,
    user_expressions: { value: '_ethang_test_value' } }).done;
  return reply.content;
}"""


class JupyterPage:
    """`kind` is the word of its addresses: `lab/tree` or `notebooks`."""

    def __init__(self, page, server, kind):
        self.page, self.server, self.kind = page, server, kind

    def open(self, path, *, reset=True):
        """Opens a notebook below the server's folder and waits for its kernel."""
        relative = path.relative_to(self.server.folder).as_posix()
        self.page.goto(f"{self.server.url}/{self.kind}/{relative}{'?reset' if reset else ''}")
        self.ready()
        return self

    def ready(self):
        self.page.wait_for_function(_READY, timeout=60_000)

    def command(self, name, **arguments):
        """Executes a command and does not wait for what it starts."""
        self.page.evaluate(
            "([name, given]) => { void window.jupyterapp.commands.execute(name, given); }", [name, arguments]
        )

    def commands(self, category):
        """Labels of the palette's commands of a category, by their ids."""
        return self.page.evaluate(
            """category => { const { commands } = window.jupyterapp;
              return Object.fromEntries(commands.listCommands()
                .filter(id => id.startsWith(category))
                .map(id => [id, commands.label(id)])); }""",
            category,
        )

    # ---- cells

    def start(self, number):
        """Runs a cell and does not wait for it."""
        self.page.evaluate(
            """number => { const app = window.jupyterapp;
              app.shell.currentWidget.content.activeCellIndex = number;
              void app.commands.execute('notebook:run-cell'); }""",
            number,
        )

    def run(self, *numbers):
        """Runs cells one after the other, each to its end."""
        for number in numbers:
            self.start(number)
            self.finish(number)

    def finish(self, number):
        """Waits until a cell that was started has its number."""
        self.page.wait_for_function(
            """number => { const cell = window.jupyterapp.shell.currentWidget.content.widgets[number];
              return cell.model.executionState === 'idle' && cell.model.executionCount !== null; }""",
            arg=number,
            timeout=60_000,
        )

    def running(self, number):
        """Whether a cell still runs. The kernel's status does not say: a message over a subshell makes it idle."""
        prompt = self.panel.locator(".jp-Cell").nth(number).locator(".jp-InputPrompt")
        return "[*]" in prompt.first.inner_text()

    def outputs(self, number):
        """What stands below a cell."""
        return self.panel.locator(".jp-Cell").nth(number).locator(".jp-Cell-outputWrapper")

    def view(self, number):
        """Our view below a cell, the first that is shown and has something to show."""
        return self.views(number).first

    def views(self, number):
        meter = self.page.get_by_role("meter")
        return self.outputs(number).locator(".eth-live").filter(has=meter, visible=True)

    @property
    def panel(self):
        """The notebook in front."""
        return self.page.locator(".jp-NotebookPanel:not(.lm-mod-hidden)")

    # ---- kernels

    @property
    def kernel(self):
        return self.page.evaluate(
            "() => window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.id"
        )

    def value(self, expression):
        """The value of a Python expression in the kernel, as far as JSON holds it; waits while a cell runs."""
        code = f"import json as _json\n_ethang_test_value = _json.dumps({expression})"
        reply = self.page.evaluate(_EXECUTE, code)
        assert reply["status"] == "ok", reply
        shown = reply["user_expressions"]["value"]["data"]["text/plain"]
        return json.loads(ast.literal_eval(shown))  # what is shown is the repr of a text

    def comms(self, target=None):
        """How many comms of a target, or of all, are open in the kernel."""
        return self.page.evaluate(
            """async target => { const { kernel } = window.jupyterapp.shell.currentWidget.sessionContext.session;
              const reply = await kernel.requestCommInfo(target ? { target_name: target } : {});
              return Object.keys(reply.content.comms).length; }""",
            target,
        )

    def restart(self):
        self.page.evaluate(
            "async () => { await window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.restart(); }"
        )
        self.ready()

    def shut_down(self):
        self.page.evaluate(
            "async () => { await window.jupyterapp.shell.currentWidget.sessionContext.shutdown(); }"
        )

    # ---- documents

    def bring(self, path):
        """Opens a further notebook, or brings the tab of an open one to the front, and waits for its kernel."""
        relative = path.relative_to(self.server.folder).as_posix()
        self.command("docmanager:open", path=relative)
        self.page.wait_for_function(
            "path => window.jupyterapp.shell.currentWidget?.context?.path === path", arg=relative
        )
        self.ready()

    def save(self):
        self.page.evaluate("async () => { await window.jupyterapp.commands.execute('docmanager:save'); }")

    def theme(self, name):
        """JupyterLab's own light or dark."""
        self.command("apputils:change-theme", theme=f"JupyterLab {name.title()}")
        self.page.wait_for_function(
            "light => document.body.dataset.jpThemeLight === light", arg=str(name == "light").lower()
        )
        # JupyterLab's splash screen fades over a new theme, and a second one within that trips over the first.
        self.page.locator("#jupyterlab-splash").wait_for(state="detached")
