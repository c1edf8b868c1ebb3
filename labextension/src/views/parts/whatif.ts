/** What a what-if asks for and what it answers, apart from how it is drawn. */
import type { Doc, Levels } from '../doc';
import { grouped, line, percent } from '../format';
import type { Column } from './Table';
import type { Point } from './timeline';

/** A replay of the whole session under one setting. */
export interface Run {
  policy: string;
  window: number;
  usable: number;
  levels: Levels;
  fills: number[];
  p95: number;
  counts: Record<string, number>;
  /** [step, outcome, fill a cleanup began from or null]. */
  events: [number, string, number | null][];
  tokens: number;
  over: number;
}

export interface Answered {
  a: Run;
  b: Run | null;
}

export interface Known {
  name: string;
  short: string;
  levels?: Levels | null;
}

/** What a person has changed. */
export interface Setting {
  window?: number;
  levels?: Levels;
  policy?: string;
  /** The policy to overlay; without one the setting as it stands, "" for nothing. */
  second?: string;
}

/** The arguments of the ask. The overlay has the same window and levels under another policy. */
export function args({ window, levels, policy, second }: Setting): Record<string, unknown> {
  const shared = { window, levels: levels && [levels.nudge, levels.cleanup, levels.landing] };
  return { ...shared, policy, second: second ? { ...shared, policy: second } : undefined };
}

/** Whether it asks for anything but what stands. */
export function changed({ window, levels, policy }: { window?: unknown; levels?: unknown; policy?: unknown }): boolean {
  return (window ?? levels ?? policy) !== undefined;
}

/** Landing below nudge, nudge at most cleanup, all within 1 to 1,000 ‰: what is moved pushes the others. */
export function inOrder(levels: Levels, name: keyof Levels, value: number): Levels {
  const least = { landing: 1, nudge: 2, cleanup: 2 }[name];
  const moved = Math.max(least, Math.min(name === 'landing' ? 999 : 1000, Math.round(value)));
  const { nudge, cleanup, landing }: Levels = { ...levels, [name]: moved };
  if (name === 'landing') {
    const up = Math.max(nudge, landing + 1);
    return { landing, nudge: up, cleanup: Math.max(cleanup, up) };
  }
  if (name === 'nudge') {
    return { landing: Math.min(landing, nudge - 1), nudge, cleanup: Math.max(cleanup, nudge) };
  }
  const down = Math.min(nudge, cleanup);
  return { landing: Math.min(landing, down - 1), nudge: down, cleanup };
}

const SMALLEST = 1_000; // ► tokens, the left end of the slider
const TENFOLDS = 3; // ► so that its right end is 1,000,000
export const TICKS = 300; // ► places of the slider

/** The place of a window on the slider. */
export function tick(window: number): number {
  const place = (Math.log10(Math.max(1, window) / SMALLEST) * TICKS) / TENFOLDS;
  return Math.round(Math.max(0, Math.min(TICKS, place)));
}

/** The window at a place of the slider, in two digits that people would choose. */
export function windowAt(place: number): number {
  const exact = SMALLEST * 10 ** ((place * TENFOLDS) / TICKS);
  const unit = 10 ** Math.max(2, Math.floor(Math.log10(exact)) - 1);
  return Math.round(exact / unit) * unit;
}

/** The Python call that gives the same numbers. */
export function call(doc: Doc, { window, levels, policy }: Setting): string {
  const asked = [
    policy === undefined ? '' : `policy=${quoted(policy)}`,
    window === undefined ? '' : `window=${under(window)}`,
    levels ? `levels=(${levels.nudge}, ${levels.cleanup}, ${levels.landing})` : ''
  ].filter(Boolean);
  if (doc.state !== 'live') {
    return `session.replay(${asked.join(', ')})`;
  }
  const move = levels ? `.move(${asked[asked.length - 1]})` : '';
  const size = under(window ?? doc.window.total);
  return `eth.replay(messages, ${size}, policy=${quoted(policy ?? doc.policy)})${move}`;
}

function under(value: number): string {
  return grouped(value).replace(/,/g, '_');
}

function quoted(text: string): string {
  return JSON.stringify(line(text, 60));
}

/** What is told of each run, with its word. */
export const FIGURES = (
  [
    ['window', run => grouped(run.window)],
    ['p95', run => percent(run.p95)],
    ['cleanups', run => grouped(run.counts.cleanup ?? 0)],
    ['nudges', run => grouped(run.counts.nudge ?? 0)],
    ['reseeds', run => grouped(run.counts.reseed ?? 0)],
    ['steps over usable', run => grouped(run.over)],
    ['tokens in all', run => grouped(run.tokens)]
  ] as [string, (run: Run) => string][]
).map(([name, value]) => [name, value, 'e-n'] as const satisfies Column<Run>);

const LANDINGS = ['cleanup', 'reseed', 'stuck'];

/** A run as its chart draws it: of what happened only landings are marked. */
export function points({ fills, events }: Run): Point[] {
  const found = fills.map((fill, at): Point => ({ step: at + 1, fill, before: null, kinds: [], events: [] }));
  for (const [step, outcome, before] of events) {
    const point = found[step - 1];
    if (point && LANDINGS.includes(outcome)) {
      point.kinds.push(outcome);
      point.before = before;
    }
  }
  return found;
}

const HAPPENED: Record<string, string> = { idle: 'idle: it would free too little', stuck: 'stuck: nothing helps' };

/** What happened at each step of a run, by step; what lasts is told at its first. */
export function happenings({ events }: Run): Map<number, string> {
  const found = new Map<number, string>();
  let last: [number, string] = [0, ''];
  for (const [step, outcome, before] of events) {
    const lasts = outcome === last[1] && step === last[0] + 1 && outcome in HAPPENED;
    last = [step, outcome];
    if (!lasts && outcome !== 'nothing') {
      const from = before === null ? '' : ` from ${percent(before)}`;
      const said = `${HAPPENED[outcome] ?? outcome}${from}`;
      found.set(step, [found.get(step), said].filter(Boolean).join('; '));
    }
  }
  return found;
}
