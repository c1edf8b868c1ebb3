/** The timeline in words, as `ethang_nb/views/timeline.py` says it. */
import type { StepRow } from '../doc';
import { grouped, line, percent } from '../format';

/** What a chart draws of a step. */
export type Point = Pick<StepRow, 'step' | 'fill' | 'before' | 'kinds' | 'events'>;

/** What is marked, the weightiest first. */
export const KINDS = [
  'stuck',
  'over',
  'reseed',
  'forced',
  'cleanup',
  'foretold',
  'shrink',
  'idle',
  'intake',
  'release',
  'nudge',
  'regret'
] as const;
export type Kind = (typeof KINDS)[number];

const SAID: Partial<Record<Kind, string>> = {
  over: 'over usable',
  forced: 'forced cleanup',
  foretold: 'would clean up'
};

export function said(kind: Kind): string {
  return SAID[kind] ?? kind;
}

/** The kinds of a step's events that are marked, the weightiest first. A forced cleanup is not marked as one twice. */
export function kinds(point: Point): Kind[] {
  const over = point.fill > 1000;
  if (!over && !point.kinds.length) {
    return [];
  }
  const forced = point.events.some(event => event.startsWith('forced'));
  return KINDS.filter(kind => {
    if (kind === 'over') {
      return over;
    }
    return kind === 'forced' ? forced : point.kinds.includes(kind) && !(forced && kind === 'cleanup');
  });
}

/** Numbers of the steps at which each kind happened, the weightiest first; only what happened. */
export function happened(points: readonly Point[]): [Kind, number[]][] {
  const found = new Map(KINDS.map(kind => [kind, [] as number[]]));
  for (const point of points) {
    kinds(point).forEach(kind => found.get(kind)!.push(point.step));
  }
  return [...found].filter(([, steps]) => steps.length);
}

/** What happened before this request, with the fill a cleanup started from. */
export function events({ before, events }: Point): string {
  return [before === null ? '' : `from ${percent(before)}`, ...events.map(event => line(event, 100))]
    .filter(Boolean)
    .join(', ');
}

/** What happened before this request, and the newest message in it. */
export function what(row: StepRow): string {
  return [events(row), line(row.what, 100)].filter(Boolean).join('; ');
}

/** One step in words: what the keyboard's cursor reads out. */
export function spoken(point: Point): string {
  return [`step ${grouped(point.step)}`, `${percent(point.fill)} full`, events(point)].filter(Boolean).join(', ');
}
