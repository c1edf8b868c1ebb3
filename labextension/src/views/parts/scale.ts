/** The window drawn to scale: what is marked on it, where labels go, and its parts. Rules as in ethang_nb/views/bar.py. */
import type { Doc } from '../doc';
import { grouped, percent, share } from '../format';
import type { Row } from './budget';

const CHARACTER = 0.5; // ► ems of a label's character, rounded up
const APART = 0.7; // ► ems between two labels

/** A place on the bar, 0 to 1, with a label of two lines. A low `rank` keeps its label longest. */
export interface Mark {
  at: number;
  name: string;
  value: string;
  rank: number;
}

/** Where a label goes: above the bar, below it or nowhere; and its left edge in ems from the bar's left edge. */
export interface Placed {
  mark: Mark;
  row: 'below' | 'above' | '';
  left: number;
  width: number;
}

/** A part of the bar: its class, and its share of the whole. */
export interface Piece {
  key: string;
  looks: string;
  share: number;
}

type Sized = Pick<Doc, 'window' | 'budget' | 'levels'>;

/** Tokens that the whole bar stands for: the window, or what is used where that is more. */
export function whole({ window, budget }: Sized): number {
  return Math.max(window.total, budget.used, 1);
}

/** What is marked on the bar, from left to right. */
export function marks(doc: Sized): Mark[] {
  const { window, levels } = doc;
  const all = whole(doc);
  const mark = (name: string, tokens: number, value: string, rank: number): Mark => ({
    at: Math.min(1, tokens / all),
    name,
    value,
    rank
  });
  const level = (name: string, at: number, rank: number) =>
    mark(name, Math.floor((window.usable * at) / 1000), percent(at), rank);
  const found = [
    level('landing', levels.landing, 2),
    level('nudge', levels.nudge, 3),
    level('cleanup', levels.cleanup, 0),
    mark('usable', window.usable, percent(1000), 1),
    mark('answer', window.total - Math.floor(window.reserve / 2), grouped(window.reserve), 5)
  ];
  if (window.hard !== window.usable) {
    found.push(mark('hard', window.hard, share(window.hard, window.usable), 4));
  }
  return found.sort((a, b) => a.at - b.at || a.rank - b.rank);
}

/** Labels for a bar `wide` ems wide: in order of rank, each below, else above, else not at all. None overlap. */
export function place(found: readonly Mark[], wide: number): Placed[] {
  const taken: Record<'below' | 'above', [number, number][]> = { below: [], above: [] };
  return [...found]
    .sort((a, b) => a.rank - b.rank)
    .map(mark => {
      const width = Math.max(mark.name.length, mark.value.length) * CHARACTER;
      const left = Math.max(0, Math.min(wide - width, mark.at * wide - width / 2));
      const free = ([from, to]: [number, number]) => left >= to + APART || left + width + APART <= from;
      const row = (['below', 'above'] as const).find(name => taken[name].every(free)) ?? '';
      if (row) {
        taken[row].push([left, left + width]);
      }
      return { mark, row, left, width };
    });
}

/** What each row of the budget takes of the bar. Where more is used than the window holds, the rest of it gives way. */
export function pieces(doc: Sized, rows: readonly Row[]): Piece[] {
  const all = whole(doc);
  let left = all - doc.budget.used;
  return rows
    .filter(({ key }) => key !== 'over')
    .reverse()
    .map(({ key, looks, tokens, how }) => {
      // Only slices say how they were counted; what is not used gets what is left, the reserve first.
      const taken = how ? tokens : key === 'free' ? left : Math.min(left, tokens);
      left -= how ? 0 : taken;
      return { key, looks, share: taken / all };
    })
    .filter(({ share }) => share > 0)
    .reverse();
}
