/** A plan in words, as `ethang_nb/views/plan.py` and `context.py` say it. */
import type { Doc, Plan, Price } from '../doc';
import { count, grouped, line, percent, tokens } from '../format';
import type { Stat } from './Stats';

interface Totals {
  before: number;
  after: number;
  fill_before: number;
  fill_after: number;
}

/** Tokens and fill before and after. */
export function change({ before, after, fill_before, fill_after }: Totals): string {
  if (before === after) {
    return `${tokens(before)} stay, ${percent(fill_before)} full`;
  }
  return `${grouped(before)} → ${tokens(after)}, ${percent(fill_before)} → ${percent(fill_after)} full`;
}

/** The outcome with totals before and after. */
export function headline(plan: Plan): string {
  return `${plan.outcome}${plan.forced ? ' (forced)' : ''}: ${change(plan)}`;
}

/** The numbers of a price with their words; what it costs at the next call in fresh input tokens. */
export function priced(price: Price): Stat[] {
  const { prefix, again, saved, pays_after, cost, served } = price;
  const found: Stat[] = [
    { name: 'prefix breaks after', value: grouped(prefix), unit: 'tokens' },
    { name: 'processed again', value: grouped(again) },
    { name: 'later requests', value: grouped(saved), unit: 'shorter' },
    pays_after === null
      ? { name: 'pays', value: 'never', unit: 'at these prices' }
      : { name: 'pays', value: `after ${count(pays_after, 'call')}` }
  ];
  if (cost) {
    const value = grouped(Math.trunc(Math.abs(cost) / 1000));
    found.push({ name: `next call costs ${cost > 0 ? 'more' : 'less'}`, value, unit: 'input tokens' });
  }
  if (served !== null) {
    found.push({ name: 'served from the cache', value: grouped(served), unit: `of ${grouped(prefix)} predicted` });
  }
  return found;
}

/** The cache prices it was reckoned with, as shares of the price of fresh input. */
export function rates({ read_per_mille, write_per_mille }: Price): string {
  return `Reckoned with cache reads at ${percent(read_per_mille)} of the input price, writes at ${percent(write_per_mille)}.`;
}

/** Whether it is a cleanup or reseed that changes the request. */
export function lands(plan: Plan): boolean {
  return plan.outcome === 'cleanup' || plan.outcome === 'reseed';
}

/** When the next cleanup is due. */
export function due({ plan, budget }: Doc): string {
  if (plan.outcome === 'nothing') {
    return 'it would change nothing now';
  }
  if (!lands(plan)) {
    return headline(plan);
  }
  return budget.cleanup_at > budget.used ? `due at ${tokens(budget.cleanup_at)}` : 'due at the next request';
}

/** When the next cleanup is due, and what it would do if it came now. */
export function coming(doc: Doc): string {
  return lands(doc.plan) ? `${due(doc)}; if it came now: ${change(doc.plan)}` : due(doc);
}

/** Why the plan is what it is; "" for a cleanup that was only asked for in order to be shown. */
export function reason(plan: Plan): string {
  return lands(plan) && plan.reason.startsWith('asked for') ? '' : line(plan.reason, 400);
}
