/** A cleanup in words and groups, as `ethang_nb/views/diff.py` says it. */
import type { Diff, DiffHead, Fact, Left } from '../doc';
import { count, grouped, line, tokens } from '../format';

/** The sentence beside every report of what survived: UPPER_BOUND of ethang_nb/context/diffing.py. */
export const BOUND = 'String survival is an upper bound on recall: the model may overlook what still stands.';
const NUDGE = '[context pressure]'; // how its text begins

/** How something left, in the order it is shown, and in words: ACTS of ethang_nb/views/plan.py, as of what has left. */
const ACTS: [Left['how'], string][] = [
  ['evict', 'left whole'],
  ['collapse', 'one line'],
  ['shrink', 'shrunk'],
  ['squeeze', 'squeezed'],
  ['remove', 'taken out']
];
export const FATES = ['invented', 'lost', 'kept'] as const;

/** Where it happened and how far it came, in one line. */
export function headline(diff: DiffHead): string {
  const where = `${line(diff.outcome, 40)} at step ${grouped(diff.step)}${diff.forced ? ', forced' : ''}`;
  return `${where}: ${grouped(diff.before)} → ${tokens(diff.after)}`;
}

export interface Group {
  how: Left['how'];
  said: string;
  tokens: number;
  items: readonly Left[];
}

/** What left, by how it left. */
export function groups(left: readonly Left[]): Group[] {
  return ACTS.map(([how, said]) => ({ how, said, items: left.filter(item => item.how === how) }))
    .filter(({ items }) => items.length)
    .map(group => ({ ...group, tokens: group.items.reduce((sum, item) => sum + item.tokens, 0) }));
}

/** What left in one line: "left the window: 3 segments and the nudge, 1,395 tokens"; `partly` where not all is stored. */
export function gone({ left }: Diff, partly?: boolean): string {
  if (!left.length) {
    return partly ? 'what left the window is not stored here' : 'nothing left the window';
  }
  const removed = left.filter(item => item.how === 'remove');
  const taken = passing(removed);
  const segments = left.length - removed.length;
  const named = [segments || !taken ? count(segments, 'segment') : '', taken].filter(Boolean).join(' and ');
  return `${partly ? 'stored here of what ' : ''}left the window: ${named}, ${tokens(left.reduce((sum, item) => sum + item.tokens, 0))}`;
}

/** What was only there until the next landing: "the nudge", "3 notices"; "" where there was nothing. */
function passing(removed: readonly Left[]): string {
  if (removed.length === 1) {
    return removed[0]!.title.startsWith(NUDGE) ? 'the nudge' : 'a notice';
  }
  return removed.length ? count(removed.length, 'notice') : '';
}

/** What stands for it in one line, with the note's author and generation; its reference is shown beside it. */
export function stands(diff: Diff): string {
  if (diff.outcome === 'reseed') {
    return 'a reseed: the core stands for it; what else is needed is read again at its address';
  }
  if (!diff.note_tokens && !diff.note) {
    return 'no note stands for it; one line each, with its address';
  }
  return [
    `stands for it: a handoff note of ${tokens(diff.note_tokens)}`,
    diff.generation ? `generation ${grouped(diff.generation)}` : '',
    diff.note_author ? `written by ${line(diff.note_author, 60)}` : ''
  ]
    .filter(Boolean)
    .join(', ');
}

/** A note by its headings; text before the first heading has the heading "". */
export function sections(note: string): { head: string; body: string }[] {
  const parts = ['', ...note.split(/^#{1,6}[ \t]+(.*)$/m)];
  return parts
    .map((head, at) => ({ head, body: at % 2 ? '' : (parts[at + 1] ?? '').trim() }))
    .filter(({ head, body }, at) => at % 2 === 0 && (head || body));
}

/** Where a fact is now, in words that end before its address or place. */
export const TOLD: Record<Fact['fate'], string> = {
  kept: 'in the',
  lost: 'read it again at',
  invented: 'not in the record, but in the'
};
