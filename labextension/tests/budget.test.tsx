import { afterEach, expect, test, vi } from 'vitest';
import { BudgetBar } from '../src/views/BudgetBar';
import type { Doc } from '../src/views/doc';
import { notes, rows, sentences, warnings } from '../src/views/parts/budget';
import { marks, pieces, place } from '../src/views/parts/scale';
import { docs, draw, props } from './drawing';

afterEach(() => document.body.replaceChildren());

function changed(doc: Doc, budget: Partial<Doc['budget']>, window: Partial<Doc['window']> = {}): Doc {
  return { ...doc, budget: { ...doc.budget, ...budget }, window: { ...doc.window, ...window } };
}

/** Over what fits, with a beyond and with much that is not to be sent. */
function crowded(): Doc {
  const doc = docs.small();
  const slices = doc.budget.slices.map(slice => ({ ...slice, tokens: slice.tokens + 700 }));
  const used = slices.reduce((sum, slice) => sum + slice.tokens, 0);
  const window = { ...doc.window, hard: 4200, usable: 4000 };
  return changed(doc, { slices, used, free: 0, over: used - 4200, unsendable: 600, room: 0, p95: 950 }, window);
}

test('labels of marks never overlap and never leave the bar, at any width', () => {
  for (const doc of [docs.small(), docs.empty(), crowded()]) {
    for (let wide = 14; wide < 90; wide += 0.5) {
      const placed = place(marks(doc), wide).filter(({ row }) => row);
      expect(placed.length).toBeGreaterThan(1);
      for (const one of placed) {
        expect(one.left).toBeGreaterThanOrEqual(0);
        expect(one.left + one.width).toBeLessThanOrEqual(wide + 1e-9);
        for (const other of placed) {
          const apart = other === one || other.row !== one.row;
          expect(apart || one.left + one.width < other.left || other.left + other.width < one.left).toBe(true);
        }
      }
    }
  }
});

test('the cleanup mark keeps its label longest', () => {
  expect(place(marks(docs.small()), 5).find(({ row }) => row)?.mark.name).toBe('cleanup');
});

test('the parts of the bar are the whole window', () => {
  for (const doc of [docs.small(), docs.empty(), docs.hostile(), crowded()]) {
    const sum = pieces(doc, rows(doc)).reduce((all, piece) => all + piece.share, 0);
    expect(sum).toBeCloseTo(1);
  }
});

test('the rows of the table sum to the window', () => {
  for (const doc of [docs.small(), docs.empty(), docs.hostile()]) {
    const sum = rows(doc).reduce((all, row) => all + row.tokens, 0);
    expect(sum).toBe(doc.window.total);
  }
});

test('rows say how many things a slice is made of', () => {
  const named = rows(docs.small()).map(row => row.name);
  expect(named).toEqual(expect.arrayContaining(['system', 'tools, 5', 'core, 1 pin', 'task, 2 segments', 'free']));
});

test('the sentence is that of views/budget.py', () => {
  expect(sentences(docs.small())).toEqual([
    '2,223 of 4,800 usable tokens, counted exactly.',
    'Room for one more result of 1,617 before cleanup. p95 77.1 %.'
  ]);
  expect(sentences(changed(docs.small(), { room: 0, p95: null }))[1]).toBe('No room for one more result before cleanup.');
});

test('it warns of what does not fit, of a high p95, of dear fixed parts and of what cannot be placed', () => {
  expect(warnings(docs.small())).toEqual([]);
  const said = warnings(changed(crowded(), { unattributed: -12 }));
  expect(said.map(one => one.slice(0, 40))).toEqual([
    '5,023 tokens more than fit (4,200): noth',
    'p95 is above 90.0 %: this budget is wron',
    'Fixed parts take 4,272 of 4,000 usable t',
    'The provider counted 12 fewer than we ca'
  ]);
});

test('fixed cost so far, and calibration only where there is one', () => {
  expect(notes(docs.small()).join(' ')).toContain('610 × 45 steps = 27,450 tokens');
  expect(notes(docs.small()).join(' ')).not.toContain('taken to count');
  expect(notes(changed(docs.small(), { ratio: 1300 })).join(' ')).toContain('130.0 %');
});

test('what somebody else sends is sent though it does not fit', () => {
  const own = warnings(crowded())[0];
  const other = warnings(changed(crowded(), { followed: true }))[0];
  expect(own).toContain('more than fit (4,200): nothing is sent until something leaves');
  expect(other).toContain('more than fit (4,200): whoever makes the requests sends them all the same');
});

test('a full window has the colour of stop, and says the fill to a screen reader', async () => {
  const drawn = await draw(<BudgetBar {...props(changed(crowded(), { fill: 2305 }))} />);
  const meter = drawn.querySelector('[role=meter]')!;
  expect(meter.getAttribute('aria-valuetext')).toBe('230.5 % full');
  expect(meter.getAttribute('aria-valuenow')).toBe('100');
  expect(meter.className).toBe('e-stop');
  expect(drawn.querySelector('.e-over')).not.toBeNull();
});

test('where slices were counted differently each says how', async () => {
  const doc = docs.small();
  const one = await draw(<BudgetBar {...props(doc)} />);
  expect(one.querySelector('tbody td:last-child')!.className).toBe('e-said');
  doc.budget.slices[1]!.how = 'estimated';
  const two = await draw(<BudgetBar {...props(doc)} />);
  expect(two.querySelector('tbody td:last-child')!.className).toBe('e-dim');
});

test('the source of a window is text', async () => {
  const source = '<img src=x onerror=p=1>\u202e';
  const drawn = await draw(<BudgetBar {...props(changed(docs.small(), {}, { source }))} />);
  expect(drawn.textContent).toContain('(<img src=x onerror=p=1>\\u202e)');
  expect(drawn.querySelector('img')).toBeNull();
});

test('a screen reader hears the fill at most once in two seconds, and the last one', async () => {
  vi.useFakeTimers();
  try {
    const doc = docs.small();
    const into = await draw(<BudgetBar {...props(doc)} />);
    const heard = () => into.querySelector('[role=status]')!.textContent;
    for (const fill of [500, 510, 520]) {
      await draw(<BudgetBar {...props(changed(doc, { fill }))} />, into);
    }
    expect(heard()).toBe('46.3 % full');
    await vi.advanceTimersByTimeAsync(2_100);
    await draw(<BudgetBar {...props(changed(doc, { fill: 520 }))} />, into);
    expect(heard()).toBe('52.0 % full');
  } finally {
    vi.useRealTimers();
  }
});
