/** Fill by step, to scale: of ten thousand steps one column a pixel is drawn, with every peak kept. */
import type { Levels } from '../doc';
import { percent } from '../format';
import { type Kind, kinds, type Point } from './timeline';

/** The highest fill to be drawn, per mille: 100 %, or the next full ten per cent above. */
export function top(points: readonly Point[]): number {
  return Math.ceil(points.reduce((most, point) => Math.max(most, highest(point)), 1000) / 100) * 100;
}

/** How high a step reached: its fill, or the one a cleanup began from. */
function highest({ fill, before }: Point): number {
  return Math.max(fill, before ?? 0);
}

/** A column of the drawing: where it begins, the step it shows, and how high any of its steps reached. */
export interface Column<P extends Point> {
  x: number;
  row: P;
  high: number;
}

/** At most one column a pixel: of the steps in one it shows the lowest fill. */
export function columns<P extends Point>(points: readonly P[], step: number): Column<P>[] {
  const found: Column<P>[] = [];
  let pixel = -1;
  points.forEach((row, index) => {
    const x = index * step;
    const high = highest(row);
    const last = found[found.length - 1];
    if (last && Math.floor(x) <= pixel) {
      last.high = Math.max(last.high, high);
      last.row = row.fill < last.row.fill ? row : last.row;
    } else {
      pixel = Math.floor(x);
      found.push({ x, row, high });
    }
  });
  return found;
}

/** Where a fill stands, in pixels from the top; and the width of a step and of all. */
export interface Scale {
  y: (fill: number) => number;
  step: number;
  end: number;
}

/** A stepped line over the columns, closed along the bottom; `level` in per mille. */
export function stepped<P extends Point>(
  found: readonly Column<P>[],
  { y, end }: Scale,
  level: (column: Column<P>) => number
): string {
  const bottom = round(y(0));
  const steps = found.map(column => `H${round(column.x)}V${round(y(level(column)))}`);
  return `M0 ${bottom}${steps.join('')}H${round(end)}V${bottom}Z`;
}

/** A line through the columns: up to how high each reached, and straight down to its fill. */
export function curve(found: readonly Column<Point>[], { y, step }: Scale): string {
  const points = found.map(({ x, row: { fill }, high }) => {
    const down = high > fill ? `V${round(y(fill))}` : '';
    return `${round(x + step / 2)} ${round(y(high))}${down}`;
  });
  return `M${points.join('L')}`;
}

export interface Placed {
  kind: Kind;
  x: number;
  y: number;
}

/**
 * What is marked, `size` wide and high, and where: above its column, or above another mark that is there already. Of
 * one kind no two are nearer than `apart`; the legend counts them all.
 */
export function placed(points: readonly Point[], { y, step }: Scale, apart: number, size: number): Placed[] {
  const found: Placed[] = [];
  const last: Partial<Record<Kind, number>> = {};
  points.forEach((point, index) => {
    const x = (index + 0.5) * step;
    for (const kind of kinds(point)) {
      if (x < (last[kind] ?? -apart) + apart) {
        continue;
      }
      last[kind] = x;
      // Only the few marks just before it can be in its way; the highest of those last, as each moves it up.
      const near = found.filter(one => x - one.x < size).sort((a, b) => b.y - a.y);
      const at = y(highest(point)) - 0.7 * size;
      found.push({ kind, x, y: near.reduce((free, one) => (Math.abs(one.y - free) < size ? one.y - size : free), at) });
    }
  });
  return found;
}

export interface Label {
  /** "" for 0, 100 % and the top. */
  name: string;
  value: string;
  at: number;
  /** Where its label stands, so that no two overlap; both in pixels from the top. */
  label: number;
}

/** The lines of 0, the levels, 100 % and the top, with their labels at least `apart` from each other. */
export function labels(levels: Levels, most: number, y: Scale['y'], apart: number): Label[] {
  const wanted: [string, number][] = [
    ['', 1000],
    ['cleanup', levels.cleanup],
    ['nudge', levels.nudge],
    ['landing', levels.landing],
    ['', 0]
  ];
  if (most > 1000) {
    wanted.push(['', most]);
  }
  let lowest = -Infinity;
  const found = wanted
    .sort((a, b) => b[1] - a[1])
    .map(([name, level]) => {
      const at = y(level);
      return { name, value: percent(level), at, label: (lowest = Math.max(at, lowest + apart)) };
    })
    .reverse();
  // What was pushed below the bottom goes up again.
  let room = y(0);
  for (const one of found) {
    one.label = Math.min(one.label, room);
    room = one.label - apart;
  }
  return found.reverse();
}

/** Indices of the steps that are named under the chart, at least `apart` from each other. */
export function ticks(size: number, step: number, apart: number): number[] {
  let every = 1;
  for (let grow = 0; every * step < apart; grow++) {
    every *= [2, 2.5, 2][grow % 3]!;
  }
  const found = [0];
  for (let index = every - 1; index < size; index += every) {
    if (index * step >= apart) {
      found.push(index);
    }
  }
  return found;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
