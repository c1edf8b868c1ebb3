import { afterEach, expect, test } from 'vitest';
import { CompactionDiff } from '../src/views/CompactionDiff';
import type { Diff, Doc } from '../src/views/doc';
import { gone, groups, sections, stands } from '../src/views/parts/diff';
import { priced } from '../src/views/parts/plan';
import { button, click, docs, draw, Kernel, props, settled } from './drawing';

afterEach(() => document.body.replaceChildren());

/** As a kernel tells it: of the cleanups only the heads. */
function live(doc: Doc): [Doc, Diff[]] {
  const diffs = doc.diffs.map(({ left: _l, note: _n, facts: _f, price: _p, ...head }) => head);
  return [{ ...doc, diffs }, doc.diffs as Diff[]];
}

const some = (more: Partial<Diff> = {}) => ({ ...(docs.small().diffs[0] as Diff), ...more });

test('the newest cleanup is asked for by its index, another when it is chosen', async () => {
  const [doc, all] = live(docs.small());
  const ask = new Kernel({ diff: all.at(-1) });
  const drawn = await draw(<CompactionDiff {...props(doc, { ask })} />);
  await settled();
  expect(ask.asked).toEqual([['diff', { index: all.length - 1 }]]);
  expect(drawn.textContent).toContain('Reseed at step 41: 2,986 → 802 tokens');
  await click(button(drawn, 'The cleanup before it'));
  expect(ask.asked.at(-1)).toEqual(['diff', { index: all.length - 2 }]);
  expect(drawn.textContent).toContain('Cleanup at step 38');
});

test('an answer for another cleanup is not shown as this one', async () => {
  const [doc, all] = live(docs.small());
  const drawn = await draw(<CompactionDiff {...props(doc, { ask: new Kernel({ diff: all[0] }) })} />);
  await settled();
  expect(drawn.querySelector('.e-two')).toBeNull();
});

test('a saved document shows its cleanups without a kernel; where it left them out it says why', async () => {
  const ask = new Kernel();
  ask.live = false;
  const saved = await draw(<CompactionDiff {...props(docs.small(), { status: 'saved', ask })} />);
  expect(saved.querySelector('.e-two')).not.toBeNull();
  const [heads] = live(docs.small());
  const bare = await draw(<CompactionDiff {...props(heads, { status: 'saved', ask })} />);
  expect(bare.textContent).toContain('This needs the kernel');
  expect(ask.asked).toEqual([]);
  expect(saved.querySelector('button.e-at')).toBeNull();
});

test('a refusal is one line', async () => {
  const [doc] = live(docs.small());
  const drawn = await draw(<CompactionDiff {...props(doc, { ask: new Kernel({ diff: new Error('gone') }) })} />);
  await settled();
  expect(drawn.querySelector('[role=alert]')!.textContent).toBe('gone');
});

test('no cleanup yet: it says when the next is due', async () => {
  const drawn = await draw(<CompactionDiff {...props(docs.empty())} />);
  expect(drawn.textContent).toMatch(/No cleanup yet\. The next is due at [\d,]+ tokens: room for [\d,]+ more/);
});

test('an address shows what stands there, or why not, and Esc closes it', async () => {
  const ask = new Kernel({ read: { address: 'log://1', text: 'one\n\u202etwo' } });
  const drawn = await draw(<CompactionDiff {...props(docs.small(), { ask })} />);
  const chip = drawn.querySelector<HTMLElement>('button.e-at')!;
  await click(chip);
  const address = (docs.small().diffs.at(-1) as Diff).left[0]!.address;
  expect(ask.asked).toEqual([['read', { address }]]);
  expect(chip.getAttribute('aria-expanded')).toBe('true');
  expect(drawn.querySelector('.e-read pre')!.textContent).toBe('one\n\\u202etwo\n');
  await settled(() => chip.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape', bubbles: true })));
  expect(drawn.querySelector('.e-read')).toBeNull();
});

test('facts are counted, and chosen by what became of them', async () => {
  const diff = docs.small().diffs.at(-1) as Diff;
  const kept = diff.facts.filter(({ fate }) => fate === 'kept').length;
  const drawn = await draw(<CompactionDiff {...props(docs.small())} />);
  expect(button(drawn, `kept ${kept}`)).toBeDefined();
  await click(button(drawn, 'kept'));
  const fates = [...drawn.querySelectorAll('.e-fate')].map(one => one.textContent!.trim());
  expect(fates).toEqual(Array(kept).fill('kept'));
  expect(drawn.textContent).toContain('upper bound');
});

test('hostile notes, titles and facts are text', async () => {
  const doc = docs.hostile();
  for (let index = 0; index < doc.diffs.length; index++) {
    const drawn = await draw(<CompactionDiff {...props(doc, { options: { index } })} />);
    expect(drawn.querySelector('img, script, style, a')).toBeNull();
    expect(drawn.textContent).toContain('<img src=x onerror');
    expect(drawn.textContent).not.toMatch(/[\u202e\u2066\x00\x07\x1b]/);
  }
});

test('what left is said as in views/diff.py, in groups by how', () => {
  const of = (how: Diff['left'][number]['how'], title = 't') => ({ how, title, tokens: 10, address: 'log://1' });
  const left = [of('collapse'), of('evict'), of('collapse'), of('remove', '[context pressure] …')];
  expect(gone(some({ left }))).toBe('left the window: 3 segments and the nudge, 40 tokens');
  expect(gone(some({ left: [] }))).toBe('nothing left the window');
  expect(gone(some({ left }), true)).toBe('stored here of what left the window: 3 segments and the nudge, 40 tokens');
  expect(gone(some({ left: [] }), true)).toBe('what left the window is not stored here');
  expect(gone(some({ left: [of('remove'), of('remove')] }))).toBe('left the window: 2 notices, 20 tokens');
  expect(groups(left).map(({ said, tokens }) => [said, tokens])).toEqual([
    ['left whole', 10],
    ['one line', 20],
    ['taken out', 10]
  ]);
});

test('more than two hundred that left are folded, with their number', async () => {
  const left = Array.from({ length: 250 }, (_, at) => ({ how: 'evict' as const, title: `t${at}`, tokens: 1, address: '' }));
  const doc = { ...docs.small(), diffs: [some({ left })] };
  const drawn = await draw(<CompactionDiff {...props(doc)} />);
  expect(drawn.querySelectorAll('.e-gone').length).toBe(200);
  await click(button(drawn, '50 more that left'));
  expect(drawn.querySelectorAll('.e-gone').length).toBe(250);
});

test('a note keeps its headings; what stands for it is named', () => {
  expect(sections('first\n## One\n\na\nb\n# Two\n')).toEqual([
    { head: '', body: 'first' },
    { head: 'One', body: 'a\nb' },
    { head: 'Two', body: '' }
  ]);
  const note = { outcome: 'cleanup', note: 'x', note_tokens: 431, generation: 2, note_author: 'reader' };
  expect(stands(some(note))).toBe('stands for it: a handoff note of 431 tokens, generation 2, written by reader');
  expect(stands(some({ outcome: 'reseed' }))).toContain('the core stands for it');
});

test('a price names every number it has', () => {
  const price = { prefix: 1037, again: 1853, saved: 1397, pays_after: null, read_per_mille: 100, write_per_mille: 1250 };
  const said = (more: object) => priced({ ...price, cost: 0, served: null, ...more }).map(one => one.name);
  expect(said({})).toEqual(['prefix breaks after', 'processed again', 'later requests', 'pays']);
  expect(said({ cost: -1_500, served: 1_000 }).slice(4)).toEqual(['next call costs less', 'served from the cache']);
  // Nothing served is a number; what nobody said is not there.
  const none = priced({ ...price, cost: 0, served: 0 }).at(-1);
  expect(none).toEqual({ name: 'served from the cache', value: '0', unit: 'of 1,037 predicted' });
});

test('regrets stand with the cleanup that caused them', async () => {
  const doc = docs.small();
  const cut = doc.regrets[0]!.cut;
  const drawn = await draw(<CompactionDiff {...props(doc, { options: { step: cut } })} />);
  expect(drawn.textContent).toContain('regret');
  expect(drawn.textContent).toContain(`at step ${cut}`);
});

test('the chosen cleanup stays chosen while the run goes on, and the newest is followed otherwise', async () => {
  const doc = docs.small();
  const into = await draw(<CompactionDiff {...props(doc)} />);
  const grown = { ...doc, diffs: [...doc.diffs, some({ step: 50 })] };
  const head = () => into.querySelector('.e-big')!.textContent;
  await draw(<CompactionDiff {...props(grown)} />, into);
  expect(head()).toContain('at step 50');
  await click(button(into, 'The cleanup before it'));
  await draw(<CompactionDiff {...props({ ...grown, diffs: [...grown.diffs, some({ step: 60 })] })} />, into);
  expect(head()).toContain('at step 41');
});
