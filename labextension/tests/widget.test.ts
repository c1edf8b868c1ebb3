import { afterEach, expect, it, vi } from 'vitest';
import examples from './examples/frames.json';
import type { Frame } from '../src/views/channel';
import widget, { mount, views } from '../src/widget';

const frames = [examples.full, ...examples.updates] as unknown as Frame[];
const last = examples.documents.at(-1) as unknown as { budget: { used: number } };

/** A host that has the anywidget protocol and nothing beside it, as VS Code, Colab and marimo. */
class Host {
  sent: Record<string, unknown>[] = [];
  private heard = new Map<string, Set<(message: unknown) => void>>();

  constructor(private traits: Record<string, unknown>) {}

  get(name: string): unknown {
    return this.traits[name];
  }
  on(name: string, listener: (message: unknown) => void): void {
    this.heard.set(name, (this.heard.get(name) ?? new Set()).add(listener));
  }
  off(name: string, listener: (message: unknown) => void): void {
    this.heard.get(name)?.delete(listener);
  }
  listeners(): number {
    return [...this.heard.values()].reduce((sum, listeners) => sum + listeners.size, 0);
  }
  fire(name: string, message?: unknown): void {
    for (const listener of this.heard.get(name) ?? []) listener(message);
  }
  send(message: Record<string, unknown>): void {
    this.sent.push(message);
  }
  say(message: object): void {
    this.fire('msg:custom', { t: 'part', m: 1, i: 0, n: 1, s: JSON.stringify(message) });
  }
}

const drawn = () => new Promise(done => setTimeout(done, 20));

function shown(host: Host): { el: HTMLElement; away: () => void } {
  const el = document.createElement('div');
  document.body.append(el);
  return { el, away: widget.render({ model: host as never, el }) };
}

afterEach(() => document.body.replaceChildren());

it('draws in a host that has only the protocol; two views of a model stay in step', async () => {
  const host = new Host({ view: 'budget', options: {}, first: '' });
  const one = shown(host);
  const two = shown(host);
  expect(host.sent.map(({ ask, rev }) => [ask, rev])).toEqual([
    ['hello', -1],
    ['hello', -1]
  ]);
  for (const frame of frames) host.say(frame);
  await drawn();
  expect(one.el.textContent).toContain(last.budget.used.toLocaleString('en-US'));
  expect(two.el.textContent).toBe(one.el.textContent);
});

it('goes on in one view when another is closed, which leaves nothing behind', async () => {
  const host = new Host({ view: 'budget', options: {}, first: '' });
  const one = shown(host);
  const alone = host.listeners();
  const two = shown(host);
  one.away();
  expect(one.el.childElementCount).toBe(0);
  expect(host.listeners()).toBe(alone);
  for (const frame of frames) host.say(frame);
  await drawn();
  expect(two.el.textContent).toContain('%');
  two.away();
  expect(host.listeners()).toBe(0);
});

it('draws what came along with the model before any kernel answers', async () => {
  const host = new Host({ view: 'budget', options: {}, first: JSON.stringify(frames[0]) });
  const { el } = shown(host);
  await drawn();
  expect(el.querySelector('[role=meter]')).not.toBeNull();
  expect(host.sent.map(({ rev }) => rev)).toEqual([frames[0]!.rev]);
});

it('says hello again, ever more slowly, until a kernel that was busy answers', () => {
  vi.useFakeTimers();
  const host = new Host({ view: 'budget', options: {}, first: '' });
  const { away } = shown(host);
  vi.advanceTimersByTime(300 + 600 + 1200);
  expect(host.sent.length).toBe(4);
  host.say(frames[0]!);
  vi.advanceTimersByTime(600_000);
  expect(host.sent.length).toBe(4);
  host.say(frames[2]!); // one was missed
  expect(host.sent.length).toBe(5);
  away();
  vi.advanceTimersByTime(600_000);
  expect(host.sent.length).toBe(5);
  vi.useRealTimers();
});

it('takes a frame that changes nothing for an answer', () => {
  vi.useFakeTimers();
  const host = new Host({ view: 'budget', options: {}, first: JSON.stringify(frames[0]) });
  const { away } = shown(host);
  host.say({ t: 'frame', rev: frames[0]!.rev, base: frames[0]!.rev });
  vi.advanceTimersByTime(600_000);
  expect(host.sent.length).toBe(1);
  away();
  vi.useRealTimers();
});

it('shows nothing as live once ipywidgets says that the kernel is gone', async () => {
  const host = new Host({ view: 'context', options: {}, first: JSON.stringify(frames[0]) });
  const { el } = shown(host);
  host.fire('comm_live_update');
  await drawn();
  expect(el.textContent).toMatch(/restarted|gone/);
});

it.each(views)('draws a stored document without a kernel: %s', async view => {
  const el = document.createElement('div');
  document.body.append(el);
  const away = mount(el, { doc: examples.documents.at(-1) as never, view });
  await drawn();
  expect(el.textContent).not.toBe('');
  away();
  expect(el.childElementCount).toBe(0);
});

it('keeps keys of a letter to itself, and leaves those with a modifier to the page', async () => {
  const el = document.createElement('div');
  document.body.append(el);
  const away = mount(el, { doc: examples.documents.at(-1) as never });
  await drawn();
  const heard: string[] = [];
  const listen = (event: KeyboardEvent) => heard.push(event.key);
  document.addEventListener('keydown', listen);
  for (const [key, ctrlKey] of [['d', false], ['Escape', false], ['s', true]] as const) {
    el.querySelector('[role=tab]')!.dispatchEvent(new KeyboardEvent('keydown', { key, ctrlKey, bubbles: true }));
    expect(el.hasAttribute('data-lm-suppress-shortcuts')).toBe(!ctrlKey);
  }
  expect(heard).toEqual(['s']);
  document.removeEventListener('keydown', listen);
  away();
});
