import { afterEach, expect, test } from 'vitest';
import type { Doc, Segment } from '../src/views/doc';
import { allowed, reasons, source, summary, type Wanted, wanted } from '../src/views/parts/segments';
import { SegmentList } from '../src/views/SegmentList';
import { button, click, docs, draw, Kernel, key, props, settled } from './drawing';

afterEach(() => document.body.replaceChildren());

const ALL: Wanted = { text: '', filter: 'all', order: 'position', down: false };
const TURN = { title: 'read_file a.txt', address: 'file:a.txt', parts: [{ role: 'tool', text: 'A line.' }], cut: 0 };

function segment(id: number, more: Partial<Segment> = {}): Segment {
  return {
    id: String(id),
    kind: 'turn',
    title: `read_file a_${id}.txt`,
    tokens: 100 + id,
    retention: 'tool output',
    droppable: true,
    reason: 'old tool output',
    source: 'read_file',
    trust: 'outside',
    position: id,
    step: id,
    address: `file:a_${id}.txt`,
    collapsed: false,
    incomplete: false,
    pin: null,
    verdict: 'stays',
    why: '',
    ...more
  };
}

const three = [
  segment(0, { kind: 'task', droppable: false, retention: 'core', trust: 'owner', source: 'owner' }),
  segment(1, { verdict: 'one line', why: 'old tool output; it can be read again' }),
  segment(2, { retention: 'recent', reason: 'among the last 3 segments', why: 'among the last 3 segments', pin: 7 })
];

function doc(segments: Segment[]): Doc {
  return { ...docs.small(), segments };
}

const rows = (box: Element) => [...box.querySelectorAll('.e-rows-body [role=row]')];
const titles = (box: Element) => rows(box).map(row => row.querySelector('b')!.textContent);
const pinning = (box: Element) => [...box.querySelectorAll('button')].find(one => one.textContent === 'Pin')!;
const sentence = (box: Element) => box.querySelector<HTMLInputElement>('.e-open input')!;
const grid = (box: Element) => box.querySelector('[role=grid]')!;

test('the words are those of the static views', () => {
  expect(summary(three)).toBe('3 segments, 303 tokens; droppable 2; the next cleanup changes 1');
  expect(three.map(allowed)).toEqual(['not droppable', 'droppable', 'droppable, but stays for now']);
  expect(reasons(three[1]!)).toBe('old tool output; it can be read again');
  expect(reasons(segment(1, { reason: 'a', why: 'b' }))).toBe('a; b');
  expect(source(three[0]!)).toBe('');
});

test('a search looks at title, source, address and reason', () => {
  const found = (text: string) => wanted(three, { ...ALL, text }).map(({ id }) => id);
  expect(found('A_1')).toEqual(['1']);
  expect(found('READ again')).toEqual(['1']);
  expect(found('owner')).toEqual(['0']);
  expect(found('nowhere')).toEqual([]);
  expect(wanted(three, ALL)).toBe(three);
});

test.each([
  ['droppable', '12'],
  ['not droppable', '0'],
  ['changes next', '1'],
  ['pinned', '2'],
  ['trust:owner', '0'],
  ['kind:turn', '12']
])('the filter %s shows %s', (filter, ids) => {
  expect(wanted(three, { ...ALL, filter }).map(({ id }) => id)).toEqual([...ids]);
});

test('it sorts by position, tokens and retention, both ways', () => {
  const sorted = (order: Wanted['order'], down: boolean) => wanted(three, { ...ALL, order, down }).map(({ id }) => id).join('');
  expect(sorted('position', true)).toBe('210');
  expect(sorted('tokens', true)).toBe('210');
  expect(sorted('retention', false)).toBe('021');
  expect(sorted('retention', true)).toBe('120');
});

test('ten thousand segments are a few rows', async () => {
  const box = await draw(<SegmentList {...props(doc(Array.from({ length: 10_000 }, (_, at) => segment(at))))} />);
  expect(rows(box).length).toBeLessThan(40);
  expect(grid(box).getAttribute('aria-rowcount')).toBe('10001');
});

test('a row says by icon and word whether it may leave, and why', async () => {
  const box = await draw(<SegmentList {...props(doc(three))} />);
  const [task, , pinned] = rows(box);
  expect(task!.querySelector('svg')!.getAttribute('aria-label')).toBe('not droppable');
  expect(task!.textContent).toContain('Not droppable: old tool output');
  expect(pinned!.querySelector('svg')!.getAttribute('aria-label')).toBe('pinned');
});

test('a head cell sorts, and says so', async () => {
  const box = await draw(<SegmentList {...props(doc(three))} />);
  const tokens = button(box, 'tokens')!;
  await click(tokens);
  expect(tokens.parentElement!.getAttribute('aria-sort')).toBe('descending');
  expect(titles(box)[0]).toBe('read_file a_2.txt');
  await click(tokens);
  expect(tokens.parentElement!.getAttribute('aria-sort')).toBe('ascending');
});

test('slash leads to the search, Enter back to the rows, Esc shows all again', async () => {
  const box = await draw(<SegmentList {...props(doc(three))} />);
  await key(grid(box), '/');
  const input = box.querySelector('input')!;
  expect(document.activeElement).toBe(input);
  await settled(() => {
    input.value = 'a_1';
    input.dispatchEvent(new Event('input', { bubbles: true }));
  });
  expect(titles(box)).toEqual(['read_file a_1.txt']);
  expect(box.querySelector('.e-finder')!.textContent).toContain('1 of 3');
  await key(input, 'Enter');
  expect(document.activeElement).toBe(grid(box));
  await key(input, 'Escape');
  expect(titles(box).length).toBe(3);
});

test('arrows move, Enter reads a row under the list, Esc closes it', async () => {
  const ask = new Kernel({ segment: TURN });
  const box = await draw(<SegmentList {...props(doc(three), { ask })} />);
  await key(grid(box), 'ArrowDown');
  await key(grid(box), 'ArrowDown');
  expect(grid(box).getAttribute('aria-activedescendant')).toBe(rows(box)[1]!.id);
  await key(grid(box), 'Enter');
  expect(ask.asked).toEqual([['segment', { segment: '1' }]]);
  const panel = box.querySelector('.e-open')!;
  expect(panel.textContent).toContain('A line.');
  expect(panel.textContent).toContain('came after step 1');
  expect(rows(box)[1]!.getAttribute('aria-selected')).toBe('true');
  await key(panel, 'Escape');
  expect(box.querySelector('.e-open')).toBeNull();
  expect(document.activeElement).toBe(grid(box));
});

test('an opened segment that leaves the window stays readable, and says so', async () => {
  const ask = new Kernel({ segment: TURN });
  const box = await draw(<SegmentList {...props(doc(three), { ask, options: { segment: '1' } })} />);
  await draw(<SegmentList {...props(doc([three[0]!, three[2]!]), { ask, options: { segment: '1' } })} />, box);
  expect(box.querySelector('.e-open')!.textContent).toContain('has left the window');
  expect(box.querySelector('.e-open')!.textContent).toContain('A line.');
});

test('the active row is kept by what it is, not by where it stands', async () => {
  const box = await draw(<SegmentList {...props(doc(three))} />);
  await key(grid(box), 'End');
  await draw(<SegmentList {...props(doc([segment(9), ...three]))} />, box);
  expect(box.querySelector('.e-active b')!.textContent).toBe('read_file a_2.txt');
});

test('a person pins the whole of a short text, and what comes of it is said', async () => {
  const ask = new Kernel({ segment: TURN, pin: { said: 'Pinned as pin 3.' } });
  const box = await draw(<SegmentList {...props(doc(three), { ask, options: { segment: '1' } })} />);
  await click(pinning(box));
  expect(ask.asked.at(-1)).toEqual(['pin', { text: 'A line.', kind: 'constraint' }]);
  expect(box.querySelector('.e-open')!.textContent).toContain('Pinned as pin 3.');
});

test('of a text with several parts only what is selected is pinned', async () => {
  const parts = [
    { role: 'user', text: 'Never open c.txt.\nGo on.' },
    { role: 'tool', text: 'x' }
  ];
  const ask = new Kernel({ segment: { ...TURN, parts }, pin: new Error('no room for it') });
  const box = await draw(<SegmentList {...props(doc(three), { ask, options: { segment: '1' } })} />);
  const pin = pinning(box);
  await click(pin);
  expect(ask.asked.length).toBe(1);
  const text = box.querySelector('.e-part pre')!.firstChild!;
  await settled(() => {
    document.getSelection()!.setBaseAndExtent(text, 0, text, 17);
    document.dispatchEvent(new Event('selectionchange'));
  });
  expect(sentence(box).value).toBe('Never open c.txt.');
  const select = box.querySelector<HTMLSelectElement>('.e-open select')!;
  await settled(() => {
    select.value = 'decision';
    select.dispatchEvent(new Event('change', { bubbles: true }));
  });
  await click(pin);
  expect(ask.asked.at(-1)).toEqual(['pin', { text: 'Never open c.txt.', kind: 'decision' }]);
  expect(box.querySelector('[role=alert]')!.textContent).toBe('no room for it');
});

test('by the keyboard alone a sentence is typed, or what is selected mended', async () => {
  const parts = [{ role: 'user', text: 'Never open c.txt.' }, { role: 'tool', text: 'x' }];
  const ask = new Kernel({ segment: { ...TURN, parts }, pin: { said: 'Pinned as pin 3.' } });
  const box = await draw(<SegmentList {...props(doc(three), { ask, options: { segment: '1' } })} />);
  expect(pinning(box).getAttribute('aria-disabled')).toBe('true');
  await settled(() => {
    sentence(box).value = 'Never open d.txt.';
    sentence(box).dispatchEvent(new Event('input', { bubbles: true }));
  });
  await draw(<SegmentList {...props(doc([...three]), { ask, options: { segment: '1' } })} />, box);
  expect(sentence(box).value).toBe('Never open d.txt.');
  await click(pinning(box));
  expect(ask.asked.at(-1)).toEqual(['pin', { text: 'Never open d.txt.', kind: 'constraint' }]);
});

test('what a field offers to pin is visible, and pinned as it is', async () => {
  const ask = new Kernel({ segment: { ...TURN, parts: [{ role: 'user', text: 'Pay\u202e now.' }] }, pin: { said: '' } });
  const box = await draw(<SegmentList {...props(doc(three), { ask, options: { segment: '1' } })} />);
  expect(sentence(box).value).toBe('Pay\\u202e now.');
  await click(pinning(box));
  expect(ask.asked.at(-1)![1]).toEqual({ text: 'Pay\u202e now.', kind: 'constraint' });
});

test('a button that goes leaves the focus to its panel, so that Esc still closes it', async () => {
  const ask = new Kernel({ segment: { ...TURN, parts: [{ role: 'tool', text: 'y'.repeat(2_000) }] }, unpin: { said: '' } });
  const box = await draw(<SegmentList {...props(doc(three), { ask, options: { segment: '2' } })} />);
  for (const [name, leave] of [['more characters', () => undefined], ['Unpin', () => unpinned()]] as const) {
    const pressed = button(box, name)!;
    pressed.focus();
    await click(pressed);
    await leave();
    expect(pressed.isConnected).toBe(false);
    expect(document.activeElement!.closest('.e-open')).not.toBeNull();
  }
  await key(document.activeElement!, 'Escape');
  expect(box.querySelector('.e-open')).toBeNull();

  function unpinned() {
    const now = three.map(one => ({ ...one, pin: null }));
    return draw(<SegmentList {...props(doc(now), { ask, options: { segment: '2' } })} />, box);
  }
});

test.each([
  ['live', 'left out here'],
  ['idle', 'in the record']
])('what is not shown of a text is %s: %s', async (state, where) => {
  const ask = new Kernel({ segment: { ...TURN, cut: 3_000 } });
  const box = await draw(<SegmentList {...props({ ...doc(three), state }, { ask, options: { segment: '1' } })} />);
  expect(box.querySelector('.e-open')!.textContent).toContain(`3,000 more characters ${where}`);
});

test('a list that is stored in part says that its sum is of what is stored', async () => {
  const stored = { ...doc(three), left_out: { segments: 9 } };
  const box = await draw(<SegmentList {...props(stored, { status: 'saved' })} />);
  expect(box.textContent).toContain('Stored here: 3 segments');
  expect((await draw(<SegmentList {...props(doc(three))} />)).textContent).not.toContain('Stored here');
});

test('the pin a segment carries is lifted by its number', async () => {
  const ask = new Kernel({ segment: TURN, pin: { said: 'Pinned as pin 8.' }, unpin: { said: 'Pin 7 lifted.' } });
  const box = await draw(<SegmentList {...props(doc(three), { ask, options: { segment: '2' } })} />);
  await settled(() => {
    sentence(box).value = 'A line.';
    sentence(box).dispatchEvent(new Event('input', { bubbles: true }));
  });
  await click(pinning(box));
  expect(box.textContent).toContain('Pinned as pin 8.');
  await click(button(box, 'Unpin'));
  expect(ask.asked.at(-1)).toEqual(['unpin', { pin: 7 }]);
  expect(box.textContent).toContain('Pin 7 lifted.');
  expect(box.textContent).not.toContain('Pinned as pin 8.');
});

test('a saved list offers no pins, and says what they need', async () => {
  const box = await draw(<SegmentList {...props(doc(three), { status: 'saved', options: { segment: '1' } })} />);
  expect(button(box, 'Pin')).toBeUndefined();
  expect(box.querySelector('.e-open')!.textContent).toContain('run the notebook again');
});

test('an empty window says so, a hostile one stays text', async () => {
  const box = await draw(<SegmentList {...props(docs.empty())} />);
  expect(box.textContent).toBe('Nothing is in the window yet.');
  const bad = await draw(<SegmentList {...props(docs.hostile())} />);
  expect(bad.querySelector('img, script')).toBeNull();
  expect(bad.textContent).not.toMatch(/[\u202e\u2066]/);
});

test('what Python says to search and to sort by is what the list begins with', async () => {
  const more = { options: { search: 'read_file a', sort: 'tokens' } };
  const box = await draw(<SegmentList {...props(doc(three), more)} />);
  expect(box.querySelector('input')!.value).toBe('read_file a');
  expect(box.querySelector('[aria-sort=descending]')!.textContent).toContain('tokens');
  expect(titles(box)[0]).toBe('read_file a_2.txt');
});
