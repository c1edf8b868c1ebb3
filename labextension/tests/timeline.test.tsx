import { afterEach, expect, test } from 'vitest';
import type { StepRow } from '../src/views/doc';
import { columns, labels, placed, type Scale, stepped, ticks, top } from '../src/views/parts/fills';
import { reached } from '../src/views/parts/keys';
import { indented, sized } from '../src/views/parts/Request';
import { happened, kinds } from '../src/views/parts/timeline';
import { Timeline } from '../src/views/Timeline';
import { button, click, docs, draw, Kernel, key, props } from './drawing';

afterEach(() => document.body.replaceChildren());

function row(step: number, more: Partial<StepRow> = {}): StepRow {
  const numbers = { fixed: 10, task: 1, history: 20, output: 69, headroom: 5 };
  return { step, fill: 500, tokens: 100, events: [], kinds: [], before: null, what: '', ...numbers, ...more };
}

/** A chart 170 high, of steps so wide. */
const scale = (step: number): Scale => ({ y: fill => 170 - fill / 10, step, end: 600 });

/** Ten thousand steps, a saw of forty with a cleanup at each fall, and one peak. */
const many = Array.from({ length: 10_000 }, (_, index) => {
  const fill = index === 4_321 ? 1_234 : 300 + (index % 40) * 10;
  return index % 40 ? row(index + 1, { fill }) : row(index + 1, { fill, before: 700, kinds: ['cleanup'] });
});

test('ten thousand steps are one column a pixel, and no peak is lost', () => {
  const found = columns(many, 600 / many.length);
  expect(found.length).toBeLessThanOrEqual(601);
  expect(Math.max(...found.map(({ high }) => high))).toBe(1_234);
  expect(Math.min(...found.map(one => one.row.fill))).toBe(300);
  expect(top(many)).toBe(1_300);
  expect(stepped(found, scale(600 / many.length), one => one.high).length).toBeLessThan(12_000);
});

test('a few steps are a column each, up to what a cleanup began from', () => {
  const found = columns([row(1), row(2, { before: 900, fill: 400 })], 40);
  expect(found.map(({ x, high }) => [x, high])).toEqual([
    [0, 500],
    [40, 900]
  ]);
});

test('marks are thinned, but all are counted', () => {
  const drawn = placed(many, scale(600 / many.length), 20, 13);
  expect(drawn.length).toBeLessThan(80);
  // What happened once is not lost between what happens all the time.
  expect(drawn.filter(({ kind }) => kind === 'over').length).toBe(1);
  expect(happened(many)).toEqual([
    ['over', [4_322]],
    ['cleanup', many.filter(one => one.kinds.length).map(one => one.step)]
  ]);
});

test('what the policy would have done has a word and a shape of its own', async () => {
  const doc = { ...docs.small(), timeline: [row(1), row(2, { kinds: ['foretold'], events: ['ethang would clean up: 9 to 4 tokens'] })] };
  const box = await draw(<Timeline {...props(doc)} />);
  expect(box.querySelector('.e-key')!.textContent).toBe('would clean up: step 2');
  expect(box.querySelectorAll('.e-k-foretold').length).toBe(2);
});

test('marks of neighbouring steps and of one step do not lie over each other', () => {
  const rows = [row(1, { kinds: ['nudge'] }), row(2, { kinds: ['cleanup', 'regret'], before: 520 }), row(3, { fill: 1_100 })];
  const drawn = placed(rows, scale(4), 13, 13);
  expect(drawn.map(({ kind }) => kind)).toEqual(['nudge', 'cleanup', 'regret', 'over']);
  drawn.forEach((one, at) =>
    drawn.slice(at + 1).forEach(other => expect(Math.abs(one.y - other.y)).toBeGreaterThanOrEqual(12.999))
  );
});

test('every kind of event has its own mark; a forced cleanup is one mark', () => {
  expect(kinds(row(1, { kinds: ['cleanup', 'shrink'], events: ['forced cleanup: 3 left'] }))).toEqual(['forced', 'shrink']);
  expect(kinds(row(1, { kinds: ['regret', 'cleanup'], fill: 1_001 }))).toEqual(['over', 'cleanup', 'regret']);
  expect(kinds(row(1, { fill: 1_000 }))).toEqual([]);
});

test('labels of levels stay apart and inside, wherever the levels are', () => {
  for (const levels of [
    { nudge: 700, cleanup: 710, landing: 690 },
    { nudge: 20, cleanup: 30, landing: 10 },
    { nudge: 999, cleanup: 1_000, landing: 998 }
  ]) {
    const at = labels(levels, 1_300, scale(4).y, 15).map(({ label }) => label);
    at.slice(1).forEach((label, index) => expect(label - at[index]!).toBeGreaterThanOrEqual(14.999));
    expect(Math.max(...at)).toBeLessThanOrEqual(170);
  }
});

test('step numbers under the chart are apart, the first always there', () => {
  expect(ticks(1, 44, 52)).toEqual([0]);
  const found = ticks(10_000, 0.07, 52);
  expect(found[0]).toBe(0);
  found.slice(1).forEach((index, at) => expect((index - found[at]!) * 0.07).toBeGreaterThanOrEqual(51.9));
});

test('keys lead from place to place and no further than the ends', () => {
  const led = (key: string) => reached(key, 5, 20);
  expect(['ArrowLeft', 'ArrowDown', 'Home', 'End', 'PageDown', 'PageUp', 'x'].map(led)).toEqual([4, 6, 0, 19, 15, 0, undefined]);
  expect(reached('ArrowDown', 19, 20)).toBe(19);
  expect(reached('End', 0, 0)).toBeUndefined();
});

test('Enter shows the request of the step under the cursor exactly as it was sent; Esc goes back', async () => {
  const text = `{"a":"${'long '.repeat(300)}","b":"<img src=x onerror=p=1>"}`;
  const ask = new Kernel({ request: { step: 44, text, how: 'as sent' } });
  const drawn = await draw(<Timeline {...props(docs.small(), { ask })} />);
  const chart = drawn.querySelector<HTMLElement>('[role=slider]')!;
  chart.focus();
  await key(chart, 'ArrowLeft');
  expect(chart.getAttribute('aria-valuetext')).toMatch(/^step 44, /);
  await key(chart, 'Enter');
  expect(ask.asked).toEqual([['request', { step: 44 }]]);
  const shown = drawn.querySelector('.e-request')!;
  expect(shown.textContent).toContain(`as sent, ${sized(text)}`);
  const more = button(shown, 'more character')!;
  more.focus();
  await click(more);
  expect(document.activeElement).toBe(shown.querySelector('pre'));
  expect(shown.querySelector('pre')!.textContent).toBe(`${text}\n`);
  const indented = button(shown, 'Indented')!;
  indented.focus();
  await click(indented);
  expect(shown.querySelector('pre')!.textContent).toContain('\n  "b": "<img src=x onerror=p=1>"\n');
  expect(drawn.querySelector('img')).toBeNull();
  await key(document.activeElement!, 'Escape');
  expect(drawn.querySelector('.e-request')).toBeNull();
  expect(document.activeElement).toBe(chart);
});

test('a refusal is one line', async () => {
  const ask = new Kernel({ request: new Error('step 45 was never sent') });
  const drawn = await draw(<Timeline {...props(docs.small(), { ask })} />);
  await click(drawn.querySelector('[role=slider]'));
  expect(drawn.querySelector('[role=alert]')!.textContent).toBe('step 45 was never sent');
});

test('a saved view says why it shows no request, and asks for none', async () => {
  const ask = new Kernel();
  const drawn = await draw(<Timeline {...props(docs.small(), { status: 'saved', ask })} />);
  await click(drawn.querySelector('[role=slider]'));
  expect(ask.asked).toEqual([]);
  expect(drawn.textContent).toContain('This needs the kernel');
});

test('the cursor stays where a reader put it while steps come in, and follows the newest otherwise', async () => {
  const doc = docs.small();
  const into = await draw(<Timeline {...props(doc)} />);
  const options = {};
  const grown = { ...doc, timeline: [...doc.timeline, row(46)] };
  const read = () => into.querySelector('.e-stats dt')!.textContent;
  await draw(<Timeline {...props(grown, { options })} />, into);
  expect(read()).toBe('step 46, newest');
  await key(into.querySelector('[role=slider]')!, 'Home');
  await draw(<Timeline {...props({ ...grown, timeline: [...grown.timeline, row(47)] }, { options })} />, into);
  expect(read()).toBe('step 1');
});

test('it opens the step it is led to', async () => {
  const ask = new Kernel({ request: { step: 14, text: '{}', how: 'as sent' } });
  await draw(<Timeline {...props(docs.small(), { ask, options: { step: 14 } })} />);
  expect(ask.asked).toEqual([['request', { step: 14 }]]);
});

test('the table of steps has the newest page first, and all pages', async () => {
  const drawn = await draw(<Timeline {...props({ ...docs.small(), timeline: many })} />);
  await click(drawn.querySelector('summary'));
  drawn.querySelector('details')!.dispatchEvent(new Event('toggle'));
  await click(drawn);
  const firsts = () => drawn.querySelector('tbody th')?.textContent;
  expect(firsts()).toBe('9,901');
  await click(button(drawn, 'Back'));
  expect(firsts()).toBe('9,801');
});

test('nothing yet is said', async () => {
  const drawn = await draw(<Timeline {...props(docs.empty())} />);
  expect(drawn.textContent).toContain('No request has been made yet');
  const heights = [...drawn.querySelectorAll('text')].map(text => Number(text.getAttribute('y')));
  expect(heights[0]).toBe(0);
  expect(heights.at(-1)).toBeGreaterThan(100);
});

test('what is no JSON is not indented', () => {
  expect(indented('{"a":')).toBe('');
  expect(sized('ü\u{1f600}')).toBe('6 bytes, 2 characters');
});
