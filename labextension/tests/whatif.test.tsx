import { afterEach, expect, test } from 'vitest';
import { columns, curve, top } from '../src/views/parts/fills';
import {
  args,
  call,
  happenings,
  inOrder,
  noWindow,
  points,
  type Run,
  tick,
  TICKS,
  windowAt,
  windowOf
} from '../src/views/parts/whatif';
import { WhatIf } from '../src/views/WhatIf';
import { button, click, docs, draw, Kernel, key, props, settled } from './drawing';

afterEach(() => document.body.replaceChildren());

const levels = { nudge: 700, cleanup: 800, landing: 400 };

function run(more: Partial<Run> = {}): Run {
  return {
    policy: 'ethang',
    window: 6_000,
    usable: 4_800,
    levels,
    fills: [100, 500, 400],
    p95: 771,
    counts: { cleanup: 1, nudge: 2 },
    events: [[3, 'cleanup', 850]],
    tokens: 12_345,
    over: 0,
    ...more
  };
}

const KNOWN = [{ name: 'ethang', short: 'all four' }, { name: 'lean', short: 'early, in batches' }];
const kernel = (whatif: unknown = { a: run(), b: null }) => new Kernel({ whatif, policies: KNOWN });
const asked = (ask: Kernel) => ask.asked.filter(([what]) => what === 'whatif').map(([, given]) => given);

const field = (box: Element) => box.querySelector<HTMLInputElement>('input[aria-label="Window in tokens"]')!;

async function change(control: HTMLInputElement | HTMLSelectElement, value: string, event = 'input') {
  await settled(() => {
    control.value = value;
    control.dispatchEvent(new Event(event, { bubbles: true }));
  });
}

test('levels stay in order, whichever is moved', () => {
  expect(inOrder(levels, 'landing', 750)).toEqual({ landing: 750, nudge: 751, cleanup: 800 });
  expect(inOrder(levels, 'landing', 1_000)).toEqual({ landing: 999, nudge: 1_000, cleanup: 1_000 });
  expect(inOrder(levels, 'nudge', 900)).toEqual({ landing: 400, nudge: 900, cleanup: 900 });
  expect(inOrder(levels, 'cleanup', 300)).toEqual({ landing: 299, nudge: 300, cleanup: 300 });
  expect(inOrder(levels, 'cleanup', 0)).toEqual({ landing: 1, nudge: 2, cleanup: 2 });
});

test('every place of the slider is another window, from a thousand to ten millions', () => {
  expect([windowAt(0), windowAt(TICKS)]).toEqual([1_000, 10_000_000]);
  const places = Array.from({ length: TICKS + 1 }, (_, place) => place);
  expect(places.map(place => tick(windowAt(place)))).toEqual(places);
  expect(windowAt(tick(128_000))).toBe(130_000);
  expect(windowAt(tick(2_000_000) + 1)).toBe(2_100_000);
  expect([tick(1), tick(50_000_000)]).toEqual([0, TICKS]);
});

test('what is not changed is not asked for', () => {
  expect(args({})).toEqual({});
  expect(args({ window: 9_000, levels, policy: 'lean', second: 'trim' })).toEqual({
    window: 9_000,
    levels: [700, 800, 400],
    policy: 'lean',
    second: { window: 9_000, levels: [700, 800, 400], policy: 'trim' }
  });
});

test('the call in Python gives the same numbers; a context has none', () => {
  const asked = args({ window: 16_000, policy: 'lean', levels });
  expect(call({ ...docs.small(), state: 'idle' }, asked)).toBe(
    'session.replay(policy="lean", window=16_000, levels=(700, 800, 400))'
  );
  expect(call({ ...docs.small(), state: 'idle' }, {})).toBe('session.replay()');
  expect(call({ ...docs.small(), state: 'live' }, asked)).toBe('');
});

test('a typed window is a whole number that holds a conversation, its thousands apart or not', () => {
  expect(['256', '8000', '8,000', '8_000', '1 000 000'].map(windowOf)).toEqual([256, 8_000, 8_000, 8_000, 1_000_000]);
  const none = ['', '0', '-5', '255', 'abc', '2000.5', '2000,5', '1e21', '1000000000'];
  expect(none.map(windowOf)).toEqual(none.map(() => 0));
  expect(noWindow('-5')).toBe('“-5” is no window; give a whole number from 256 to 999,999,999');
});

/** The line of a run in a chart 100 high and `wide` wide. */
function line(of: Run, wide: number): string {
  const found = points(of);
  const scale = { y: (fill: number) => 100 - fill / 10, step: wide / found.length, end: wide };
  return curve(columns(found, scale.step), scale);
}

test('a landing falls straight down from where it began', () => {
  expect(line(run(), 300)).toBe('M50 90L150 50L250 15V60');
});

test('of thousands of steps the highest and the lowest of each pixel are drawn', () => {
  const fills = Array.from({ length: 4_000 }, (_, at) => (at === 1_234 ? 990 : 300 + (at % 40) * 10));
  const drawn = line(run({ fills, events: [[2_000, 'cleanup', 960]] }), 600);
  expect(drawn.length).toBeLessThan(12_000);
  expect(drawn).toMatch(/ 1V/);
  expect(drawn).toMatch(/ 4V/);
  expect(drawn).toMatch(/V70(L|$)/);
});

test('the chart reaches over the highest fill, what it began from included', () => {
  expect(top(points(run()))).toBe(1_000);
  expect(top(points(run({ events: [[1, 'cleanup', 1_340]] })))).toBe(1_400);
});

test('only landings are marked', () => {
  const found = points(run({ events: [[1, 'nudge', null], [3, 'cleanup', 850]] }));
  expect(found.map(({ kinds }) => kinds)).toEqual([[], [], ['cleanup']]);
});

test('what lasts over several steps is told once', () => {
  const told = happenings(run({ events: [[1, 'idle', null], [2, 'idle', null], [4, 'cleanup', 850]] }));
  expect([...told]).toEqual([
    [1, 'idle: it would free too little'],
    [4, 'cleanup from 85.0 %']
  ]);
});

test('it replays as it stands, tells the figures, and changes nothing else', async () => {
  const ask = kernel();
  const box = await draw(<WhatIf {...props(docs.small(), { ask })} />);
  await settled();
  expect(asked(ask)[0]).toEqual({});
  expect(new Set(ask.asked.map(([what]) => what))).toEqual(new Set(['whatif', 'policies']));
  expect(box.querySelector('.e-runs tbody')!.textContent).toContain('77.1 %');
  expect(box.querySelector('.e-curves')!.getAttribute('aria-label')).toContain('3 steps: ethang');
});

test('a typed window wins, and what it was stays beside it', async () => {
  const ask = kernel();
  const box = await draw(<WhatIf {...props(docs.small(), { ask })} />);
  await settled();
  await change(field(box), '16001', 'change');
  expect(asked(ask).at(-1)).toEqual({ window: 16_001 });
  expect(box.querySelector('.e-runs tbody')!.textContent).toContain('as it stands');
  expect(box.querySelector('code')!.textContent).toBe('session.replay(window=16_001)');
});

test('while one is asked the last of the rest is asked, and the others are not', async () => {
  const waiting: (() => void)[] = [];
  const ask = kernel();
  ask.ask = (what, given) => {
    ask.asked.push([what, given]);
    return what === 'policies'
      ? Promise.resolve(KNOWN)
      : new Promise(done => waiting.push(() => done({ a: run(), b: null })));
  };
  const box = await draw(<WhatIf {...props(docs.small(), { ask })} />);
  const [window] = box.querySelectorAll<HTMLInputElement>('input[type=range]');
  for (const place of ['10', '20', '100']) {
    await change(window!, place);
  }
  expect(asked(ask)).toEqual([{}]);
  await settled(() => waiting.shift()!());
  expect(asked(ask)).toEqual([{}, { window: windowAt(100) }]);
});

test('moved levels can be given back to the band', async () => {
  const ask = kernel();
  const box = await draw(<WhatIf {...props(docs.small(), { ask })} />);
  await settled();
  const cleanup = box.querySelector<HTMLInputElement>('[aria-label="cleanup level"]')!;
  await change(cleanup, '650');
  expect(asked(ask).at(-1)).toEqual({ levels: [650, 650, 400] });
  expect(cleanup.getAttribute('aria-valuetext')).toBe('65.0 %');
  await click(button(box, 'by the band'));
  expect(asked(ask).at(-1)).toEqual({});
});

test('a second policy is asked for and overlaid', async () => {
  const ask = kernel({ a: run(), b: run({ policy: 'lean', p95: 570 }) });
  const box = await draw(<WhatIf {...props(docs.small(), { ask })} />);
  await settled();
  await change(box.querySelector('[aria-label="Beside it"]')!, 'lean', 'change');
  expect(asked(ask).at(-1)).toEqual({ second: { policy: 'lean' } });
  expect(box.querySelectorAll('.e-runs tbody tr').length).toBe(2);
  expect(box.querySelectorAll('.e-curves .e-under').length).toBe(2);
});

test('every step is a table behind a disclosure', async () => {
  const box = await draw(<WhatIf {...props(docs.small(), { ask: kernel() })} />);
  await settled();
  const fold = box.querySelector('details')!;
  expect(fold.querySelector('table')).toBeNull();
  await settled(() => {
    fold.open = true;
    fold.dispatchEvent(new Event('toggle'));
  });
  expect(fold.querySelector('table')!.textContent).toContain('cleanup from 85.0 %');
});

test('a refusal is said in one line, and what was drawn stays', async () => {
  const ask = kernel();
  const box = await draw(<WhatIf {...props(docs.small(), { ask })} />);
  await settled();
  const answer = ask.ask.bind(ask);
  ask.ask = (what, given) => (given?.window ? Promise.reject(new Error('too small')) : answer(what, given));
  await change(field(box), '300', 'change');
  expect(box.querySelector('.e-controls + [role=alert]')!.textContent).toBe('too small');
  expect(box.querySelector('.e-curves')).not.toBeNull();
});

test('a window that is none is named beside the field, which is marked, and not asked for', async () => {
  const ask = kernel();
  const box = await draw(<WhatIf {...props(docs.small(), { ask })} />);
  await settled();
  const before = ask.asked.length;
  await change(field(box), '-5');
  expect(field(box).getAttribute('aria-invalid')).toBe('false');
  await change(field(box), '-5', 'change');
  const said = box.querySelector(`[id="${field(box).getAttribute('aria-describedby')}"]`)!;
  expect(said.textContent).toBe(noWindow('-5'));
  expect(field(box).getAttribute('aria-invalid')).toBe('true');
  expect(field(box).value).toBe('-5');
  expect(ask.asked.length).toBe(before);
  await change(field(box), '9,000', 'change');
  expect(said.textContent).toBe('');
  expect(field(box).getAttribute('aria-invalid')).toBe('false');
  expect(field(box).value).toBe('9000');
  expect(asked(ask).at(-1)).toEqual({ window: 9_000 });
});

test('what is being typed outlasts what comes in meanwhile', async () => {
  const ask = kernel();
  const box = await draw(<WhatIf {...props(docs.small(), { ask })} />);
  await settled();
  await change(field(box), '12');
  await draw(<WhatIf {...props({ ...docs.small(), step: 46 }, { ask })} />, box);
  expect(field(box).value).toBe('12');
});

test('a refused window is marked; chart, table and call say which setting they show', async () => {
  const ask = kernel();
  const box = await draw(<WhatIf {...props(docs.small(), { ask })} />);
  await settled();
  const answer = ask.ask.bind(ask);
  ask.ask = (what, given) => (given?.window ? Promise.reject(new Error('too small')) : answer(what, given));
  await change(field(box), '300', 'change');
  expect(field(box).getAttribute('aria-invalid')).toBe('true');
  expect(box.querySelectorAll('.e-runs tbody tr').length).toBe(1);
  const shown = 'Shown: ethang, window 6,000, nudge 70.0 %, cleanup 80.0 %, landing 40.0 %';
  expect(box.querySelector('.e-curves')!.previousElementSibling!.textContent).toBe(shown);
  expect(box.querySelector('caption')!.textContent).toBe(shown);
  expect(box.querySelector('code')!.textContent).toBe('session.replay()');
});

test('a context has no call, and nothing to copy', async () => {
  const doc = { ...docs.small(), state: 'live' };
  const box = await draw(<WhatIf {...props(doc, { ask: kernel() })} />);
  await settled();
  expect(box.querySelector('.e-curves')).not.toBeNull();
  expect(box.querySelector('code')).toBeNull();
  expect(button(box, 'Copy')).toBeUndefined();
});

test('a button to copy is called so, and says beside it what it did', async () => {
  const box = await draw(<WhatIf {...props(docs.small(), { ask: kernel() })} />);
  await settled();
  const copy = button(box, 'Copy')!;
  expect(copy.querySelector('[role]')).toBeNull();
  await click(copy);
  expect(copy.nextElementSibling!.getAttribute('role')).toBe('status');
  expect(copy.nextElementSibling!.textContent).toBe('Not allowed here');
});

test('what Python says to begin with is asked for, the second policy too', async () => {
  const ask = kernel();
  const options = { window: 9_000, levels: [700, 800, 400], policy: 'trim', second: 'lean' };
  await draw(<WhatIf {...props(docs.small(), { ask, options })} />);
  await settled();
  const shared = { window: 9_000, levels: [700, 800, 400] };
  expect(asked(ask).at(-1)).toEqual({ ...shared, policy: 'trim', second: { ...shared, policy: 'lean' } });
});

test('a replay is said to count the context as it stands', async () => {
  const box = await draw(<WhatIf {...props(docs.small(), { ask: kernel() })} />);
  await settled();
  expect(box.textContent).toContain('the context as it stands counts as one more request');
});

test('without a kernel nothing is asked and nothing can be moved', async () => {
  const ask = kernel();
  const box = await draw(<WhatIf {...props(docs.small(), { ask, status: 'saved' })} />);
  expect(ask.asked).toEqual([]);
  expect(box.querySelectorAll('fieldset:disabled').length).toBe(3);
  expect(box.textContent).toContain('run the notebook again');
});

test('a run without steps says so', async () => {
  const box = await draw(<WhatIf {...props(docs.empty(), { ask: kernel({ a: run({ fills: [] }), b: null }) })} />);
  await settled();
  expect(box.textContent).toContain('no step was taken');
  await key(box, 'Escape');
});
