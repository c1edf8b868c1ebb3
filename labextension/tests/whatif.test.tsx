import { afterEach, expect, test } from 'vitest';
import { columns, curve, top } from '../src/views/parts/fills';
import {
  args,
  call,
  happenings,
  inOrder,
  points,
  type Run,
  tick,
  TICKS,
  windowAt
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

test('the slider of the window is logarithmic, from a thousand to a million', () => {
  expect([windowAt(0), windowAt(TICKS)]).toEqual([1_000, 1_000_000]);
  expect(tick(windowAt(TICKS / 3))).toBe(TICKS / 3);
  expect(windowAt(tick(128_000))).toBe(130_000);
  expect([tick(1), tick(5_000_000)]).toEqual([0, TICKS]);
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

test('the call in Python gives the same numbers', () => {
  const setting = { window: 16_000, policy: 'lean' };
  expect(call({ ...docs.small(), state: 'idle' }, setting)).toBe('session.replay(policy="lean", window=16_000)');
  expect(call({ ...docs.small(), state: 'live' }, { ...setting, levels })).toBe(
    'eth.replay(messages, 16_000, policy="lean").move(levels=(700, 800, 400))'
  );
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
  await change(box.querySelector('input[type=number]')!, '16001', 'change');
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
  expect(asked(ask)).toEqual([{}, { window: 10_000 }]);
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
  await change(box.querySelector('input[type=number]')!, '10', 'change');
  expect(box.querySelector('[role=alert]')!.textContent).toBe('too small');
  expect(box.querySelector('.e-curves')).not.toBeNull();
});

test('without a kernel nothing is asked and nothing can be moved', async () => {
  const ask = kernel();
  const box = await draw(<WhatIf {...props(docs.small(), { ask, status: 'saved' })} />);
  expect(ask.asked).toEqual([]);
  expect(box.querySelectorAll('fieldset:disabled').length).toBe(3);
  expect(box.textContent).toContain('run the cell again');
});

test('a run without steps says so', async () => {
  const box = await draw(<WhatIf {...props(docs.empty(), { ask: kernel({ a: run({ fills: [] }), b: null }) })} />);
  await settled();
  expect(box.textContent).toContain('no step was taken');
  await key(box, 'Escape');
});
