import { afterEach, expect, test, vi } from 'vitest';
import { happened, parted, type Place, traced } from '../src/views/parts/trace';
import { Trace } from '../src/views/Trace';
import { click, docs, draw, Kernel, key, props, settled } from './drawing';

afterEach(() => {
  vi.useRealTimers();
  document.body.replaceChildren();
});

function place(more: Partial<Place> = {}): Place {
  return {
    where: 'segment',
    title: 'read_file a.txt',
    in_window: true,
    excerpt: 'the order PO-7719 goes on',
    segment: '4',
    address: 'file:a.txt',
    step: 4,
    left: [],
    ...more
  };
}

const gone = place({ in_window: false, left: [{ step: 9, how: 'collapse', by: 'release' }, { step: 14, how: 'evict', by: 'cleanup' }] });
const kernel = (places: Place[]) => new Kernel({ trace: { text: 'PO-7719', places } });

async function type(box: Element, text: string) {
  const input = box.querySelector('input')!;
  await settled(() => {
    input.value = text;
    input.dispatchEvent(new Event('input', { bubbles: true }));
  });
  return input;
}

test('it says in words where a text is and how it left', () => {
  expect(traced({ text: 'x', places: [place(), gone] })).toBe('“x” is in 1 place of the window; it left 1 place');
  expect(traced({ text: 'x', places: [gone] })).toBe('“x” is no longer in the window; it left 1 place');
  expect(traced({ text: 'x', places: [] })).toContain('nowhere');
  expect(happened(gone)).toBe('came after step 4; became one line at step 9 (release); left at step 14 (cleanup)');
  expect(happened(place({ segment: '', step: 0 }))).toBe('');
});

test('what was found is marked, however it is spaced and written', () => {
  expect(parted('see PO\n 7719, po 7719', 'po 7719')).toEqual(['see ', 'PO\n 7719', ', ', 'po 7719', '']);
  expect(parted('a.b axb', 'a.b')).toEqual(['', 'a.b', ' axb']);
  expect(parted('as it is', ' ')).toEqual(['as it is']);
});

test('Enter asks at once; places are grouped, and what was found is marked', async () => {
  const ask = kernel([place(), gone]);
  const box = await draw(<Trace {...props(docs.small(), { ask })} />);
  await type(box, 'PO-7719');
  await key(box.querySelector('input')!, 'Enter');
  expect(ask.asked).toEqual([['trace', { text: 'PO-7719' }]]);
  expect([...box.querySelectorAll('section[aria-label]')].map(one => one.getAttribute('aria-label'))).toEqual([
    'Trace',
    'In the window',
    'Left'
  ]);
  expect(box.querySelector('mark')!.textContent).toBe('PO-7719');
  expect(box.textContent).toContain('Left at step 14 (cleanup)'.toLowerCase());
});

test('a short pause asks once for what stands there then', async () => {
  const ask = kernel([]);
  const box = await draw(<Trace {...props(docs.small(), { ask })} />);
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const input = box.querySelector('input')!;
  for (const text of ['PO', 'PO-', 'PO-7']) {
    input.value = text;
    input.dispatchEvent(new Event('input', { bubbles: true }));
  }
  vi.advanceTimersByTime(1_000);
  vi.useRealTimers();
  await settled();
  expect(ask.asked).toEqual([['trace', { text: 'PO-7' }]]);
  expect(box.textContent).toContain('is nowhere');
});

test('the text that Python gave is looked for; Esc clears it', async () => {
  const ask = kernel([place()]);
  const box = await draw(<Trace {...props(docs.small(), { ask, options: { text: 'PO-7719' } })} />);
  await settled();
  expect(box.querySelectorAll('.e-place').length).toBe(1);
  await key(box.querySelector('input')!, 'Escape');
  expect(box.querySelectorAll('.e-place').length).toBe(0);
  expect(box.querySelector('input')!.value).toBe('');
});

test('a place in the window leads to its segment', async () => {
  const led: unknown[] = [];
  const go = (...to: unknown[]) => void led.push(to);
  const box = await draw(<Trace {...props(docs.small(), { ask: kernel([place()]), options: { text: 'PO-7719' }, go })} />);
  await settled();
  await click(box.querySelector('.e-place .e-bare'));
  expect(led).toEqual([['segments', { segment: '4' }]]);
});

test('a refusal is said, a hostile excerpt stays text', async () => {
  const bad = '<img src=x onerror=alert(1)>\u202e PO-7719';
  const box = await draw(<Trace {...props(docs.small(), { ask: kernel([place({ excerpt: bad })]), options: { text: 'PO-7719' } })} />);
  await settled();
  expect(box.querySelector('img')).toBeNull();
  expect(box.textContent).not.toContain('\u202e');
  const ask = new Kernel({ trace: new Error('nothing to look for') });
  const other = await draw(<Trace {...props(docs.small(), { ask, options: { text: 'x' } })} />);
  await settled();
  expect(other.querySelector('[role=alert]')!.textContent).toBe('nothing to look for');
});

test('without a kernel it says what it needs', async () => {
  const ask = kernel([]);
  const box = await draw(<Trace {...props(docs.small(), { ask, status: 'lost', options: { text: 'PO-7719' } })} />);
  await settled();
  expect(ask.asked).toEqual([]);
  expect(box.textContent).toContain('run the notebook again');
});
