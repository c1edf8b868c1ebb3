/** The words of segments, and which of them a list shows in which order. Words as in `ethang_nb/views/segments.py`. */
import type { Segment } from '../doc';
import { count, grouped, line, tokens } from '../format';

const SPARED = 160; // ► characters of a reason, as there
const CLAIMS = { agent: 'a claim of the agent', outside: 'outside', owner: 'owner' };
const STAY = ['', 'stay', 'stays'];

/** The slice whose colour a segment has; history for all others. */
const SLICES: Record<string, string> = {
  system: 'system',
  tools: 'tools',
  project: 'project',
  core: 'core',
  pin: 'core',
  task: 'task',
  note: 'handoff notes',
  memory: 'recalled memory',
  turn: 'tool output'
};

/** Leaves last to leaves first: `Retention` of context/segments.py. */
const RANKS = [
  'system',
  'project',
  'core',
  'handoff note',
  'recent',
  'recalled memory',
  'older',
  'tool output',
  'nudge or notice'
];

export function sliceOf(kind: string): string {
  return SLICES[kind] ?? 'history';
}

/** Whether the next cleanup would change it. */
export function leaves(segment: Segment): boolean {
  return !STAY.includes(segment.verdict);
}

/** Whether it may leave; what may leave and is spared by rule says so. */
export function allowed(segment: Segment): string {
  if (!segment.droppable) {
    return 'not droppable';
  }
  const spared = segment.why && segment.why === segment.reason && !leaves(segment);
  return spared ? 'droppable, but stays for now' : 'droppable';
}

/** Why it may or may not leave, and why the next cleanup would or would not change it. */
export function reasons(segment: Segment): string {
  const [reason, why] = [line(segment.reason, SPARED), line(segment.why, SPARED)];
  return why.startsWith(reason) ? why : [reason, why].filter(Boolean).join('; ');
}

/** Source, "" where the trust says the same. */
export function source({ source, trust }: Segment): string {
  const said = line(source, 40);
  return said === trust ? '' : said;
}

export function trust(segment: Segment): string {
  return CLAIMS[segment.trust] ?? line(segment.trust, 40);
}

/** How many, how large, how many may leave, how many would. */
export function summary(segments: readonly Segment[]): string {
  let [total, droppable, leaving] = [0, 0, 0];
  for (const segment of segments) {
    total += segment.tokens;
    droppable += segment.droppable ? 1 : 0;
    leaving += leaves(segment) ? 1 : 0;
  }
  const said = `${count(segments.length, 'segment')}, ${tokens(total)}; droppable ${grouped(droppable)}`;
  return `${said}; the next cleanup changes ${grouped(leaving)}`;
}

export type Order = 'position' | 'tokens' | 'retention';

export interface Wanted {
  text: string;
  /** `all`, a name of FILTERS, `trust:<trust>` or `kind:<kind>`. */
  filter: string;
  order: Order;
  /** Largest, or what leaves first, at the top. */
  down: boolean;
}

export const FILTERS: Record<string, (segment: Segment) => boolean> = {
  droppable: segment => segment.droppable,
  'not droppable': segment => !segment.droppable,
  'changes next': leaves,
  pinned: segment => segment.pin !== null || segment.kind === 'pin'
};

/** The segments to show, in their order. Where nothing is asked for it is the list itself. */
export function wanted(segments: readonly Segment[], { text, filter, order, down }: Wanted): readonly Segment[] {
  const words = text.toLowerCase().trim();
  const passes = passing(filter);
  let found = segments;
  if (words || filter !== 'all') {
    found = segments.filter(segment => passes(segment) && (!words || searched(segment).includes(words)));
  }
  if (order === 'position') {
    return down ? [...found].reverse() : found;
  }
  const size = order === 'tokens' ? (segment: Segment) => segment.tokens : rank;
  const turn = down ? -1 : 1;
  return [...found].sort((a, b) => turn * (size(a) - size(b)) || a.position - b.position);
}

function passing(filter: string): (segment: Segment) => boolean {
  const [field, value] = filter.split(':');
  if (value !== undefined) {
    return segment => segment[field as 'kind' | 'trust'] === value;
  }
  return FILTERS[filter] ?? (() => true);
}

/** What a search looks through, made once a segment: the same object comes with every update. */
const SEARCHED = new WeakMap<Segment, string>();

function searched(segment: Segment): string {
  let said = SEARCHED.get(segment);
  if (said === undefined) {
    const { title, kind, source, address, reason, why } = segment;
    said = [title, kind, source, trust(segment), address, reason, why].join('\n').toLowerCase();
    SEARCHED.set(segment, said);
  }
  return said;
}

function rank(segment: Segment): number {
  const at = RANKS.indexOf(segment.retention);
  return at < 0 ? RANKS.length : at;
}

const KINDS: Record<string, string> = {
  turn: 'tool turn',
  note: 'handoff note',
  memory: 'recalled memory',
  user: 'user message',
  assistant: 'assistant message'
};

/** What kind it is, in the words of the design. */
export function kindWord(kind: string): string {
  return KINDS[kind] ?? kind;
}
