import { execFileSync } from 'node:child_process';
import { afterEach, expect, test, vi } from 'vitest';
import { Silent } from '../src/views/channel';
import { ContextView } from '../src/views/ContextView';
import type { Doc } from '../src/views/doc';
import { Boundary } from '../src/views/parts/Boundary';
import { change, coming, priced } from '../src/views/parts/plan';
import { VIEWS } from '../src/views/registry';
import { button, click, docs, draw, Kernel, key, props, settled } from './drawing';

afterEach(() => document.body.replaceChildren());

const running = (): Doc => ({ ...docs.small(), state: 'running', notices: ['first', 'second'] });
const tab = (box: Element, name: string) =>
  [...box.querySelectorAll<HTMLElement>('[role=tab]')].find(one => one.textContent === name);

test('the first view stands above, all others are tabs', async () => {
  const box = await draw(<ContextView {...props(docs.small())} />);
  const [top, ...rest] = VIEWS.map(({ title }) => title);
  expect([...box.querySelectorAll('[role=tab]')].map(one => one.textContent)).toEqual(rest);
  expect(rest).not.toContain(top);
  expect(box.querySelector('[role=tab][aria-selected=true]')!.textContent).toBe(rest[0]);
});

test('`tab` of Python opens one; what was searched for stays while another is looked at', async () => {
  const box = await draw(<ContextView {...props(docs.small(), { options: { tab: 'trace' } })} />);
  expect(box.querySelector('.e-trace')).not.toBeNull();
  expect(box.querySelector('.e-list')).toBeNull();
  await click(tab(box, 'Segments'));
  const input = box.querySelector<HTMLInputElement>('.e-list input')!;
  await settled(() => {
    input.value = 'contract';
    input.dispatchEvent(new Event('input', { bubbles: true }));
  });
  await click(tab(box, 'Trace'));
  expect(box.querySelector('.e-list')!.closest('[hidden]')).not.toBeNull();
  await click(tab(box, 'Segments'));
  expect(box.querySelector<HTMLInputElement>('.e-list input')!.value).toBe('contract');
});

test('a running session can be stopped, and says what came of it', async () => {
  const ask = new Kernel({ stop: { done: 'Stopping.' } });
  const box = await draw(<ContextView {...props(running(), { ask })} />);
  expect(box.querySelector('.e-pill')!.textContent).toBe('step 45, running');
  await click(button(box, 'Stop'));
  expect(ask.asked).toEqual([['stop', {}]]);
  expect(box.querySelector('.e-head')!.textContent).toContain('Stopping.');
});

const now = (box: Element) => box.querySelector('.e-now');

test('what the model is saying shows while it says it, as text, and in a live view only', async () => {
  const said = { ...running(), saying: 'Reading <b>contract</b>\nseven\u202e' };
  const box = await draw(<ContextView {...props(said)} />);
  expect(now(box)!.querySelector('small')!.textContent).toBe('the model is saying');
  expect(now(box)!.querySelector('p')!.textContent).toBe('Reading <b>contract</b>\nseven\\u202e');
  expect(now(box)!.querySelector('b')).toBeNull();
  const past = await draw(<ContextView {...props(said, { status: 'saved' })} />);
  expect(now(past)).toBeNull();
  const idle = await draw(<ContextView {...props({ ...said, state: 'completed' })} />);
  expect(now(idle)).toBeNull();
});

test('a text that is gone leaves its room until the run ends, so that nothing below it moves', async () => {
  const box = await draw(<ContextView {...props(running())} />);
  expect(now(box)!.textContent).toBe('the model was asked; nothing has come yet');
  expect(now(box)!.classList.contains('e-roomy')).toBe(false);
  await draw(<ContextView {...props({ ...running(), saying: 'Reading' })} />, box as HTMLDivElement);
  await draw(<ContextView {...props({ ...running(), saying: '' })} />, box as HTMLDivElement);
  expect(now(box)!.querySelector('p')!.textContent).toBe('');
  expect(now(box)!.classList.contains('e-roomy')).toBe(true);
  await draw(<ContextView {...props({ ...running(), state: 'completed' })} />, box as HTMLDivElement);
  await draw(<ContextView {...props(running())} />, box as HTMLDivElement);
  expect(now(box)!.classList.contains('e-roomy')).toBe(false);
});

test('why nothing comes is said, and so are tools at work; neither is read out word by word', async () => {
  const waiting = { ...running(), waiting: 'openai/gpt-5: 429, waits 2 s' };
  const box = await draw(<ContextView {...props(waiting)} />);
  expect(now(box)!.querySelector('small')!.textContent).toBe('waiting');
  expect(now(box)!.querySelector('.e-warn')!.textContent).toBe('openai/gpt-5: 429, waits 2 s');
  expect(now(box)!.closest('[aria-live], [role=status]')).toBeNull();
  const working = running();
  working.segments = working.segments.map((one, at, all) => (at === all.length - 1 ? { ...one, title: 'grep x', incomplete: true } : one));
  await draw(<ContextView {...props(working)} />, box as HTMLDivElement);
  expect(now(box)!.textContent).toBe('tools at work: grep x');
});

test('where the kernel is silent, ■ is named', async () => {
  const ask = new Kernel();
  const waited = vi.fn((_what: string, _args?: object, _patience?: number) => Promise.reject(new Silent('silent')));
  ask.ask = waited as unknown as typeof ask.ask;
  const box = await draw(<ContextView {...props(running(), { ask })} />);
  await click(button(box, 'Stop'));
  expect(waited).toHaveBeenCalledWith('stop', {}, 1_000);
  expect(box.textContent).toContain('The kernel does not answer while the cell runs here: press ■ (interrupt the kernel).');
});

test.each(['idle', 'completed', 'live'])('there is nothing to stop in a session that is %s', async state => {
  const box = await draw(<ContextView {...props({ ...docs.small(), state })} />);
  expect(button(box, 'Stop')).toBeUndefined();
});

test('acts are named, tell what they would do, and say what they did', async () => {
  const ask = new Kernel({ compact: { said: 'Cleanup: 2,223 → 1,796 tokens.' }, reseed: new Error('a run is going on') });
  const box = await draw(<ContextView {...props(docs.small(), { ask })} />);
  expect(button(box, 'Compact now')).toBeUndefined();
  await click(button(box, 'Next cleanup'));
  expect(box.textContent).toContain('if it came now: 2,223 → 1,796 tokens, 46.3 % → 37.4 % full');
  expect(box.textContent).toContain('frees 427 tokens');
  expect(ask.asked).toEqual([]);
  await click(button(box, 'Compact now'));
  expect(box.textContent).toContain('Cleanup: 2,223 → 1,796 tokens.');
  await click(button(box, 'Start from the core'));
  expect(box.textContent).toContain('a run is going on');
  expect(box.textContent).not.toContain('1,796 tokens.');
  expect(ask.asked.map(([what]) => what)).toEqual(['compact', 'reseed']);
});

test('where somebody else makes the requests, the next cleanup is what the policy says alone', async () => {
  const doc = docs.small();
  const box = await draw(<ContextView {...props({ ...doc, budget: { ...doc.budget, followed: true } })} />);
  expect(button(box, 'By its policy, the next cleanup due at')).toBeDefined();
});

test('while a run goes on, a start from the core is for the next piece of work', async () => {
  const ask = new Kernel({ cool: { said: 'The next piece of work starts from the core.' } });
  const box = await draw(<ContextView {...props(running(), { ask })} />);
  await click(button(box, 'Next cleanup'));
  await click(button(box, 'Start from the core'));
  expect(ask.asked).toEqual([['cool', {}]]);
});

test('pins and notices stand behind their number; a pin is lifted by its number', async () => {
  const ask = new Kernel({ unpin: { said: 'Pin 1 lifted.' } });
  const box = await draw(<ContextView {...props(running(), { ask })} />);
  await click(button(box, '2 notices'));
  expect([...box.querySelectorAll('.e-lines li')].map(one => one.textContent)).toEqual(['second', 'first']);
  await click(button(box, '2 pins'));
  expect(box.querySelectorAll('.e-lines s').length).toBe(1);
  await click(button(box, 'Unpin: Never open'));
  expect(ask.asked).toEqual([['unpin', { pin: 1 }]]);
  expect(box.textContent).toContain('Pin 1 lifted.');
  await key(box.querySelector('.e-lines')!, 'Escape');
  expect(box.querySelector('.e-lines')).toBeNull();
  expect(document.activeElement!.textContent).toBe('2 pins');
});

test('the button of a long pin keeps its width', async () => {
  const sheet = document.head.appendChild(document.createElement('style'));
  // Made flat, as jsdom knows no nested rules.
  const flat = ['src/views/css/base.css', '--target=chrome100'];
  sheet.textContent = execFileSync('node_modules/.bin/esbuild', flat, { encoding: 'utf8' });
  const box = await draw(<ContextView {...props(docs.small())} />);
  box.className = 'eth-live';
  await click(button(box, '2 pins'));
  const look = getComputedStyle(button(box, 'Unpin')!);
  expect([look.paddingLeft, look.flexShrink]).toEqual(['0.45em', '0']);
  sheet.remove();
});

test('a pin says where its sentence stands; one that has not entered yet says when it will', async () => {
  const doc = docs.small();
  const pin = { ...doc.pins[0]!, lifted: '', core: false };
  doc.pins = [{ ...pin, segment: '' }, { ...pin, id: 2, segment: '4' }, { ...pin, id: 3, core: true }];
  const box = await draw(<ContextView {...props(doc)} />);
  await click(button(box, '3 pins'));
  expect([...box.querySelectorAll('.e-lines small')].map(one => one.textContent!.split('; ')[2])).toEqual([
    'enters with the next request',
    'in its own message, which stays',
    'in the core'
  ]);
});

test('a pin that is lifted leaves the focus among the pins, so that Esc still closes them', async () => {
  const doc = docs.small();
  const box = await draw(<ContextView {...props(doc)} />);
  await click(button(box, '2 pins'));
  const unpin = button(box, 'Unpin')!;
  unpin.focus();
  await draw(<ContextView {...props({ ...doc, pins: doc.pins.map(pin => ({ ...pin, lifted: 'by hand' })) })} />, box);
  expect(unpin.isConnected).toBe(false);
  await key(document.activeElement!, 'Escape');
  expect(box.querySelector('.e-lines')).toBeNull();
});

test.each([
  ['lost', 'The kernel was restarted or is out of reach: these numbers are the last it told.', 'last told at step 45'],
  ['ended', 'The session is closed: these numbers are its last.', 'closed at step 45'],
  ['saved', 'A saved view', 'saved at step 45']
] as const)('numbers that are %s never look live', async (status, sentence, state) => {
  const box = await draw(<ContextView {...props(running(), { status })} />);
  expect(box.textContent).toContain(sentence);
  expect(box.querySelector('.e-pill')!.textContent).toBe(state);
  expect(button(box, 'Stop')).toBeUndefined();
  await click(button(box, 'Next cleanup'));
  expect(button(box, 'Compact now')).toBeUndefined();
});

test('a live view has no sentence about its standing', async () => {
  const box = await draw(<ContextView {...props(docs.small())} />);
  expect(box.querySelector<HTMLElement>('.e-standing')!.hidden).toBe(true);
});

test('a view that fails says one line, and the others go on', async () => {
  let broken = true;
  const Bad = () => {
    if (broken) {
      throw new Error('no such slice');
    }
    return <p>drawn</p>;
  };
  const box = await draw(
    <>
      <Boundary title="Bad">
        <Bad />
      </Boundary>
      <p>good</p>
    </>
  );
  expect(box.textContent).toContain('Bad could not be drawn: no such slice');
  expect(box.textContent).toContain('good');
  broken = false;
  await click(button(box, 'Try again'));
  expect(box.textContent).toContain('drawn');
});

test('a plan is said in the words of the static views', () => {
  const doc = docs.small();
  expect(coming(doc)).toBe('due at 3,840 tokens; if it came now: 2,223 → 1,796 tokens, 46.3 % → 37.4 % full');
  expect(coming({ ...doc, plan: { ...doc.plan, outcome: 'nothing' } })).toBe('it would change nothing now');
  expect(change({ before: 5, after: 5, fill_before: 10, fill_after: 10 })).toBe('5 tokens stay, 1.0 % full');
  expect(priced({ ...doc.plan.price!, pays_after: null })[3]).toEqual({ name: 'pays', value: 'never', unit: 'at these prices' });
});

test('hostile names stay text', async () => {
  const box = await draw(<ContextView {...props(docs.hostile())} />);
  expect(box.querySelector('img, script')).toBeNull();
});

test('a stored document says of every list how much of it is not stored here', async () => {
  const left_out = { segments: 1, timeline: 2, diffs: 3, left: 4, facts: 5, pins: 6, notices: 7, regrets: 8 };
  const box = await draw(<ContextView {...props({ ...running(), left_out }, { status: 'saved' })} />);
  for (const name of ['Timeline', 'Cleanups', 'Segments']) {
    await click(tab(box, name));
  }
  const said = [box.textContent];
  for (const chip of ['pins', 'notices']) {
    await click(button(box, chip));
    said.push(box.querySelector('.e-chips + .e-side')!.textContent);
  }
  expect(box.textContent).toContain('Stored here of what left the window: ');
  expect(button(box, '9 notices')).toBeDefined();
  const numbers = said.join().match(/… \d(?= more[^…]* not stored here)/g)!.map(one => Number(one.slice(2)));
  expect([...new Set(numbers)].sort()).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
});
