import './fakes'; // before anything of Lumino
import { Panel, Widget } from '@lumino/widgets';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { nullTranslator } from '@jupyterlab/translation';
import { MIME, SavedView } from '../../src/panel/mime';
import { docs } from '../drawing';

const WIDGET = 'application/vnd.jupyter.widget-view+json';
const trans = nullTranslator.load('ethang_nb');

/** What JupyterLab's renderer of widgets does: a view, or a text that is an error. */
class FakeRenderer extends Panel {
  constructor(private lives: boolean) {
    super();
  }

  async renderModel(): Promise<void> {
    if (this.lives) {
      const view = new Widget();
      view.node.textContent = 'a live view';
      this.addWidget(view);
    } else {
      this.node.textContent = 'Error displaying widget: model not found';
    }
  }
}

/** JupyterLab's renderer of HTML, which cleans it. */
class FakeHtml extends Widget {
  async renderModel({ data }: { data: Record<string, string> }): Promise<void> {
    this.node.innerHTML = data['text/html']!;
  }
}
const HTML = { createRenderer: () => new FakeHtml() } as never;

/** An output area, as far as a renderer looks up to it. */
class Area extends Panel {
  made = 0;
  rendermime;

  constructor(lives: boolean) {
    super();
    this.rendermime = {
      getFactory: () => ({}),
      createRenderer: () => (this.made++, new FakeRenderer(lives)),
      createModel: (options: object) => options
    };
  }
}

interface Output {
  data: Record<string, unknown>;
  trusted?: boolean;
  metadata?: object;
}

async function drawn({ data, trusted = true, metadata = {} }: Output, area: Area, known = ['m1']): Promise<SavedView> {
  const view = new SavedView(HTML, { knows: comm => known.includes(comm) }, trans);
  await view.renderModel({ data, trusted, metadata } as never);
  area.addWidget(view);
  Widget.attach(area, document.body);
  await vi.advanceTimersByTimeAsync(20_000);
  return view;
}

const both = (stored: object) => ({ [MIME]: stored, [WIDGET]: { model_id: 'm1' } });

beforeEach(() => vi.useFakeTimers());
afterEach(() => {
  vi.useRealTimers();
  document.body.replaceChildren();
});

test('a saved document is drawn without a kernel', async () => {
  const view = await drawn({ data: { [MIME]: docs.small() } }, new Area(false));
  expect(view.node.textContent).toContain(docs.small().name);
  expect(view.node.textContent).toContain('saved');
});

test('a widget that lives is shown in place of what was saved', async () => {
  const area = new Area(true);
  const view = await drawn({ data: both(docs.small()) }, area);
  expect(view.node.textContent).toBe('a live view');
  expect(area.made).toBe(1);
});

test('a widget that no kernel knows is never tried', async () => {
  const area = new Area(false);
  const view = await drawn({ data: both(docs.small()) }, area, []);
  expect(area.made).toBe(0);
  expect(view.node.textContent).toContain(docs.small().name);
});

test('a widget that cannot be drawn is tried twice, and its error is never seen', async () => {
  const area = new Area(false);
  const view = await drawn({ data: both({ version: 1, live: 'audit' }) }, area);
  expect(area.made).toBe(2);
  expect(view.node.textContent).not.toContain('Error');
  expect(view.node.textContent).toContain('another notebook of this kernel');
});

test('a notebook that is not trusted runs no widget', async () => {
  const area = new Area(true);
  await drawn({ data: both(docs.small()), trusted: false }, area);
  expect(area.made).toBe(0);
});

test('a view that was stored before its run says that it ended', async () => {
  const view = await drawn({ data: both({ version: 1, live: 'audit' }) }, new Area(false), []);
  expect(view.node.textContent).toBe('The live view ended with its kernel; the run’s result stands below.');
});

test('once its widget is closed the saved document comes back', async () => {
  vi.useRealTimers();
  const area = new Area(true);
  const view = new SavedView(HTML, { knows: () => true }, trans);
  await view.renderModel({ data: both(docs.small()), trusted: true, metadata: {} } as never);
  area.addWidget(view);
  Widget.attach(area, document.body);
  await vi.waitFor(() => expect(view.node.textContent).toBe('a live view'));
  view.widgets[0]!.hide();
  await vi.waitFor(() => expect(view.node.textContent).toContain(docs.small().name));
});

test('a document of another version is not guessed at: its text is shown', async () => {
  const data = { [MIME]: { version: 99 }, 'text/plain': 'ContextView(audit)' };
  const view = await drawn({ data }, new Area(false));
  expect(view.node.textContent).toContain('another version');
  expect(view.node.textContent).toContain('ContextView(audit)');
});

test('hostile text of a document stays text', async () => {
  const view = await drawn({ data: { [MIME]: docs.hostile() } }, new Area(false));
  expect(view.node.querySelectorAll('script, img, iframe')).toHaveLength(0);
});

test('what it made goes with it', async () => {
  const view = new SavedView(HTML, { knows: () => false }, trans);
  const area = new Area(true);
  area.addWidget(view);
  Widget.attach(area, document.body);
  await view.renderModel({ data: both({ version: 1, live: 'audit' }), trusted: true, metadata: {} } as never);
  expect(vi.getTimerCount()).toBe(1);
  view.dispose();
  expect(vi.getTimerCount()).toBe(0);
});

test("a run keeps its own HTML, which has the answer; its views are behind a line", async () => {
  const view = await drawn({ data: { [MIME]: docs.small(), 'text/html': '<p>completed: ORD-88421</p><details><summary>Context at the end</summary>S</details>' } }, new Area(true));
  expect(view.node.firstElementChild!.textContent).toBe('completed: ORD-88421');
  expect(view.node.querySelectorAll('details').length).toBe(1);
  const box = view.node.querySelector('details')!;
  expect(box.textContent).toBe('Context at the end');
  expect(box.querySelector('.eth-live')).toBeNull();
  box.open = true;
  await vi.advanceTimersByTimeAsync(100);
  expect(box.querySelector('[role=meter]')).not.toBeNull();
  view.dispose();
});

test('a live view that the page does not know yet is waited for', async () => {
  const view = new SavedView(HTML, { knows: () => false }, trans);
  const area = new Area(true);
  await view.renderModel({ data: both({ version: 1, live: 'first' }), trusted: true, metadata: {} } as never);
  area.addWidget(view);
  Widget.attach(area, document.body);
  await vi.advanceTimersByTimeAsync(1000);
  expect(view.node.textContent).toBe('');
  await vi.advanceTimersByTimeAsync(30_000);
  expect(view.node.textContent).toMatch(/ended with its kernel/);
});
