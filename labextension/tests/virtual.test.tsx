import { afterEach, expect, test } from 'vitest';
import { found, type Field, VirtualRows } from '../src/views/parts/VirtualRows';
import { draw, key, settled } from './drawing';

afterEach(() => document.body.replaceChildren());

const itself = (row: number) => row;
const COLUMNS: Field<number>[] = [['n', 'row', itself]];
const many = Array.from({ length: 10_000 }, (_, at) => at);

const NONE = {
  sorted: { order: '', down: false },
  active: -1,
  opened: -1,
  fresh: '',
  follow: false,
  sort: () => undefined,
  move: () => undefined,
  open: () => undefined,
  close: () => undefined
};

function list(rows: readonly number[], more: object = {}) {
  return (
    <VirtualRows
      name="e-any"
      label="Rows"
      columns={COLUMNS}
      names={1}
      rows={rows}
      id={itself}
      {...NONE}
      {...more}
    />
  );
}

const shown = (box: Element) => [...box.querySelectorAll('[role=gridcell]')].map(cell => Number(cell.textContent));

test('of ten thousand rows a few are drawn, and all are counted', async () => {
  const box = await draw(list(many));
  const grid = box.querySelector('[role=grid]')!;
  expect(shown(box).length).toBeLessThan(40);
  expect(grid.getAttribute('aria-rowcount')).toBe('10001');
  expect(box.querySelector('[role=gridcell]')!.parentElement!.getAttribute('aria-rowindex')).toBe('2');
  expect((box.querySelector('.e-rows-body') as HTMLElement).style.height).toBe('440000px');
});

test('scrolled, the rows in sight are drawn with their numbers, in their order', async () => {
  const box = await draw(list(many));
  const grid = box.querySelector('[role=grid]')!;
  await settled(() => {
    grid.scrollTop = 44 * 5_000;
    grid.dispatchEvent(new Event('scroll'));
  });
  expect(shown(box)).toContain(5_000);
  expect(shown(box)).toEqual([...shown(box)].sort((a, b) => a - b));
  const first = box.querySelector('[role=gridcell]')!;
  expect(first.parentElement!.getAttribute('aria-rowindex')).toBe(String(Number(first.textContent) + 2));
});

test('rows that leave above do not move what is read', async () => {
  const box = await draw(list(many));
  const grid = box.querySelector('[role=grid]')!;
  await settled(() => {
    grid.scrollTop = 44 * 100 + 7;
    grid.dispatchEvent(new Event('scroll'));
  });
  await draw(list(many.slice(30)), box);
  expect(grid.scrollTop).toBe(44 * 70 + 7);
});

test('another order begins at the top again', async () => {
  const box = await draw(list(many, { fresh: 'up' }));
  const grid = box.querySelector('[role=grid]')!;
  await settled(() => {
    grid.scrollTop = 4_400;
    grid.dispatchEvent(new Event('scroll'));
  });
  await draw(list([...many].reverse(), { fresh: 'down' }), box);
  expect(grid.scrollTop).toBe(0);
});

test.each([
  [true, 20_000],
  [false, 9_500]
])('at its end a list follows new rows where it shall (%s)', async (follow, to) => {
  const box = await draw(list(many, { follow }));
  const grid = box.querySelector('[role=grid]')!;
  let height = 10_000;
  Object.defineProperties(grid, { scrollHeight: { get: () => height }, clientHeight: { get: () => 500 } });
  await settled(() => {
    grid.scrollTop = 9_500;
    grid.dispatchEvent(new Event('scroll'));
  });
  height = 20_000;
  await draw(list([...many, 10_000], { follow }), box);
  expect(grid.scrollTop).toBe(to);
});

test('the row that was in sight is found again; of one that left, the next', () => {
  expect(found([1, 2, 3, 4], [1, 2, 3, 4, 5], 2, itself)).toBe(2);
  expect(found([1, 2, 3, 4], [3, 4], 2, itself)).toBe(0);
  expect(found([1, 2, 3, 4], [1, 4], 1, itself)).toBe(1);
  expect(found([1, 2, 3], [], 1, itself)).toBe(0);
});

test('scrolling makes no new elements', async () => {
  const box = await draw(list(many));
  const grid = box.querySelector('[role=grid]')!;
  const elements = () => new Set(box.querySelectorAll('.e-rows-body [role=row]'));
  const before = elements();
  await settled(() => {
    grid.scrollTop = 44 * 5_000;
    grid.dispatchEvent(new Event('scroll'));
  });
  expect([...elements()].filter(element => !before.has(element)).length).toBe(0);
});

test('keys with a modifier, and keys of what is inside, are not its own', async () => {
  const moved: number[] = [];
  const box = await draw(list(many, { move: (at: number) => moved.push(at) }));
  const grid = box.querySelector('[role=grid]')!;
  await settled(() =>
    grid.dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowDown', ctrlKey: true, bubbles: true }))
  );
  await key(box.querySelector('[role=columnheader]')!, 'ArrowDown');
  expect(moved).toEqual([]);
  await key(grid, 'ArrowDown');
  expect(moved).toEqual([0]);
});
