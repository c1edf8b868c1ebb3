/** What a what-if asks for and what it answers, apart from how it is drawn. */
import type { Doc, Levels } from '../doc';
import { grouped, line, percent } from '../format';
import { clamped } from './keys';
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

/** What is asked of the kernel: only what is not as it stands. */
export interface Asked {
  window?: number;
  levels?: number[];
  policy?: string;
  second?: Asked;
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
export function args({ window, levels, policy, second }: Setting): Asked & Record<string, unknown> {
  const shared = { window, levels: levels && [levels.nudge, levels.cleanup, levels.landing] };
  return { ...shared, policy, second: second ? { ...shared, policy: second } : undefined };
}

/** Whether it asks for anything but what stands. */
export function changed({ window, levels, policy }: { window?: unknown; levels?: unknown; policy?: unknown }): boolean {
  return (window ?? levels ?? policy) !== undefined;
}

/** Landing below nudge, nudge at most cleanup, all within 1 to 1,000 ‰: what is moved pushes the others. */
export function inOrder(levels: Levels, name: keyof Levels, value: number): Levels {
  const lands = name === 'landing';
  let { nudge, cleanup, landing }: Levels = {
    ...levels,
    [name]: clamped(Math.round(value), lands ? 1 : 2, lands ? 999 : 1000)
  };
  if (lands) {
    nudge = Math.max(nudge, landing + 1);
  }
  if (name !== 'cleanup') {
    cleanup = Math.max(cleanup, nudge);
  }
  nudge = Math.min(nudge, cleanup);
  landing = Math.min(landing, nudge - 1);
  return { nudge, cleanup, landing };
}

// Every place of the slider is a window in two digits, as people would choose it: no step leads nowhere.
const [SMALLEST, LARGEST] = [1_000, 10_000_000]; // ► tokens, the ends of the slider
const STEPS = 90; // places from 10 to 99
export const TICKS = 360;

/** The place of a window on the slider. */
export function tick(window: number): number {
  const size = clamped(window, SMALLEST, LARGEST);
  const tenfold = Math.floor(Math.log10(size));
  return Math.round(size / 10 ** (tenfold - 1)) - 10 + (tenfold - 3) * STEPS;
}

/** The window at a place of the slider. */
export function windowAt(place: number): number {
  return (10 + (place % STEPS)) * 10 ** (2 + Math.floor(place / STEPS));
}

/** The Python call that gives the same numbers; "" for a context, which no call replays with its settings. */
export function call({ state }: Doc, { window, levels, policy }: Asked): string {
  const asked = [
    policy && `policy=${quoted(policy)}`,
    window && `window=${under(window)}`,
    levels && `levels=(${levels.join(', ')})`
  ];
  return state === 'live' ? '' : `session.replay(${asked.filter(Boolean).join(', ')})`;
}

const LEAST = 256; // SMALLEST of context/window.py

/** The window that was typed, in tokens, its thousands apart or not; 0 where it is none. */
export function windowOf(typed: string): number {
  const digits = typed.replace(/[,_ ](?=\d{3})/g, '');
  return /^\d{3,9}$/.test(digits) && Number(digits) >= LEAST ? Number(digits) : 0;
}

/** What is wrong with a window that is none. */
export function noWindow(typed: string): string {
  return `“${line(typed, 40)}” is no window; give a whole number from ${LEAST} to 999,999,999`;
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
