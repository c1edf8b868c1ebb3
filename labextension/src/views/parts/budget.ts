/** The budget in words: the sentences and rows of `ethang_nb/views/budget.py`. */
import type { Doc, How, Slice } from '../doc';
import { count, grouped, line, percent, share, tokens } from '../format';
import { slice as looks } from './Swatch';

type Sized = Pick<Doc, 'window' | 'budget' | 'plan' | 'step' | 'timeline'>;

const HOW: Record<How, string> = {
  exact: 'counted exactly',
  estimated: 'estimated',
  provider: 'counted by the provider'
};
const TOO_FULL = 900; // per mille of usable at p95: above it the budget is wrong (DESIGN section 6)
const DEAR = 600; // fixed parts, core and note above this share of usable are said (DESIGN section 6)
const FIXED = ['system', 'tools', 'project', 'core'];

/** A part of the window: its key and look, name, tokens, share of usable, how a slice was counted. */
export interface Row {
  key: string;
  looks: string;
  name: string;
  tokens: number;
  share: string;
  how: string;
}

/** What is used and how it was counted; what still fits, and p95. */
export function sentences({ window, budget }: Pick<Doc, 'window' | 'budget'>): [string, string] {
  const used = `${grouped(budget.used)} of ${grouped(window.usable)} usable tokens, ${HOW[budget.how]}.`;
  const room = budget.room
    ? `Room for one more result of ${grouped(budget.room)} before cleanup.`
    : 'No room for one more result before cleanup.';
  return [used, room + (budget.p95 === null ? '' : ` p95 ${percent(budget.p95)}.`)];
}

/** What is wrong with the budget, with the next step; empty where nothing is. */
export function warnings({ window, budget, plan }: Sized): string[] {
  const said: string[] = [];
  if (budget.over) {
    said.push(
      `${grouped(budget.over)} tokens more than fit (${grouped(window.hard)}): ` +
        (budget.followed
          ? 'whoever makes the requests sends them all the same; the provider may refuse or cut them.'
          : 'nothing is sent until something leaves or the window grows.')
    );
  }
  if (budget.p95 !== null && budget.p95 > TOO_FULL) {
    said.push(
      `p95 is above ${percent(TOO_FULL)}: this budget is wrong for the work. Give a larger window, fewer tools, ` +
        'a smaller entry limit, or begin pieces of work more often.'
    );
  }
  said.push(...dear({ window, budget, plan }));
  if (budget.unattributed) {
    const more = budget.unattributed > 0 ? 'more' : 'fewer';
    said.push(`The provider counted ${grouped(Math.abs(budget.unattributed))} ${more} than we can place.`);
  }
  return said;
}

/** Fixed parts, core and note that leave little room, part by part. */
function dear({ window, budget, plan }: Pick<Doc, 'window' | 'budget' | 'plan'>): string[] {
  const size = (name: string) => budget.slices.find(slice => slice.name === name)?.tokens ?? 0;
  const parts: [string, number][] = FIXED.map(name => [name, size(name)]);
  parts.push(['a handoff note', Math.max(size('handoff notes'), plan.note_tokens)]);
  const taken = parts.reduce((sum, [, part]) => sum + part, 0);
  if (taken * 1000 <= window.usable * DEAR) {
    return [];
  }
  const listed = parts.filter(([, part]) => part).map(([name, part]) => `${name} ${grouped(part)}`);
  return [
    `Fixed parts take ${grouped(taken)} of ${grouped(window.usable)} usable tokens on every request: ${listed.join(', ')}.`
  ];
}

/** Slices that hold something, then what is left of the window, as they sum to it. */
export function rows({ window, budget }: Sized): Row[] {
  const kept = budget.slices
    .filter(slice => slice.tokens)
    .map(slice => ({
      key: slice.name,
      looks: looks(slice.name),
      name: named(slice),
      tokens: slice.tokens,
      share: share(slice.tokens, window.usable),
      how: slice.how as string
    }));
  const rest: [string, string, number, string][] = [
    ['free', 'free', budget.free, 'free'],
    ['beyond', 'beyond effective', budget.beyond, 'dots'],
    ['unsendable', 'more than may be sent', budget.unsendable, 'dots'],
    ['reserve', 'reserve for the answer', window.reserve, 'hatch'],
    ['over', 'over what fits', budget.over, 'over']
  ];
  const left = rest
    .filter(([key, , size]) => size || key === 'free')
    .map(([key, name, size, look]) => ({
      key,
      looks: `e-${look}`,
      name,
      tokens: size,
      share: key === 'free' ? share(size, window.usable) : '',
      how: ''
    }));
  return [...kept, ...left];
}

/** Whether the slices were counted in different ways, so that each has to say its own. */
export function mixed({ budget }: Pick<Doc, 'budget'>): boolean {
  return budget.slices.some(slice => slice.tokens && slice.how !== budget.how);
}

/** What stands under the table, beside the sum: window and its source, fixed cost so far, calibration. */
export function notes({ window, budget, step, timeline }: Sized): string[] {
  const said = [`Window ${tokens(window.total)} (${line(window.source, 60)}), ${HOW[budget.how]}.`];
  // A cleanup that was asked for between two runs is a step at which nothing is sent.
  const sent = step - timeline.filter(({ kinds }) => kinds.includes('unsent')).length;
  if (budget.fixed && sent > 1) {
    said.push(`Fixed cost so far: ${grouped(budget.fixed)} × ${count(sent, 'step')} = ${tokens(budget.fixed * sent)}.`);
  }
  if (budget.ratio !== 1000) {
    said.push(`This model is taken to count ${percent(budget.ratio)} of what we count; usable and hard are smaller by that.`);
  }
  return said;
}

/** The slice with how many things it is made of: "tools, 6", "core, 2 pins"; one segment goes without saying. */
function named({ name, count: many }: Slice): string {
  if (name === 'tools') {
    return many ? `${name}, ${grouped(many)}` : name;
  }
  const unit = name === 'core' ? 'pin' : 'segment';
  return many > (unit === 'segment' ? 1 : 0) ? `${name}, ${count(many, unit)}` : name;
}
