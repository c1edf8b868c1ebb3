import { expect, test } from 'vitest';
import { FakeKernel, settled } from './fakes';
import { ANNOUNCE, Link, PANEL } from '../../src/panel/link';

const DOC = { t: 'frame', rev: 1, base: null, set: { version: 1, name: 'audit', state: 'idle' } };
const HERE = { comm_id: 'a', data: { t: 'announce', v: 1 } };

async function linked(kernel: FakeKernel): Promise<Link> {
  const link = new Link();
  link.add(kernel.connection);
  await settled();
  return link;
}

/** A link with one document. */
async function opened(kernel = new FakeKernel()): Promise<Link> {
  kernel.announced = ['a'];
  const link = await linked(kernel);
  await settled();
  kernel.say({ t: 'list', sources: [], shown: null });
  kernel.say(DOC);
  return link;
}

test('a kernel without ethang_nb is asked one question and gets nothing else', async () => {
  const kernel = new FakeKernel();
  const link = await linked(kernel);
  expect(link.phase).toBe('absent');
  expect(kernel.sent).toEqual([{ type: 'comm_info_request', content: { target_name: ANNOUNCE }, subshell: null }]);
});

test('after a reload of the page the comm is opened, in a subshell before anything is said', async () => {
  const kernel = new FakeKernel();
  const link = await opened(kernel);
  expect(link.phase).toBe('open');
  expect(kernel.of('comm_open')).toMatchObject([{ content: { target_name: PANEL }, subshell: 'sub1' }]);
  expect(link.store.doc?.name).toBe('audit');
});

test('asks go to the same subshell, and their answers come back', async () => {
  const kernel = new FakeKernel();
  const link = await opened(kernel);
  const answer = link.channel!.ask('stop');
  const sent = kernel.of('comm_msg').at(-1)!;
  expect(sent).toMatchObject({ subshell: 'sub1', content: { comm_id: kernel.comm, data: { ask: 'stop' } } });
  kernel.say({ t: 'reply', id: (sent.content.data as { id: number }).id, ok: true, data: { done: 'stopping' } });
  expect(await answer).toEqual({ done: 'stopping' });
});

test('where the settings want no subshells none is made', async () => {
  const kernel = new FakeKernel();
  kernel.commsOverSubshells = 'disabled';
  await opened(kernel);
  expect(kernel.of('create_subshell_request')).toEqual([]);
  expect(kernel.of('comm_open')).toMatchObject([{ subshell: null }]);
});

test.each([
  ['comm_open', { comm_id: 'a', target_name: ANNOUNCE, data: {} }],
  ['comm_msg', HERE]
])('an announcement opens the comm once: %s', async (type, content) => {
  const kernel = new FakeKernel();
  const link = await linked(kernel);
  kernel.publish(type, content);
  kernel.publish(type, content);
  await settled();
  expect(link.phase).toBe('opening');
  expect(kernel.of('comm_open')).toHaveLength(1);
});

test('comms of others open nothing', async () => {
  const kernel = new FakeKernel();
  await linked(kernel);
  kernel.publish('comm_open', { comm_id: 'x', target_name: 'jupyter.widget', data: {} });
  kernel.publish('comm_msg', { comm_id: 'x', data: { method: 'update', state: {} } });
  kernel.publish('status', { execution_state: 'idle' });
  expect(kernel.of('comm_open')).toEqual([]);
});

test('a busy kernel is asked past its cell once a view of it is seen at work', async () => {
  const kernel = new FakeKernel();
  kernel.announced = null;
  kernel.info = new Promise(() => undefined);
  const link = await linked(kernel);
  expect(link.phase).toBe('asking');
  for (let i = 0; i < 3; i++) {
    kernel.publish('comm_msg', { comm_id: 'w', data: { method: 'custom', content: { t: 'part' } } });
  }
  await settled();
  expect(kernel.of('comm_info_request').map(({ subshell }) => subshell)).toEqual([null, 'sub1']);
  expect(kernel.of('delete_subshell_request')).toMatchObject([{ content: { subshell_id: 'sub1' } }]);
  expect(kernel.of('comm_open')).toHaveLength(1);
});

test.each(['restarting', 'autorestarting', 'starting'] as const)('after %s nothing of the old kernel counts', async status => {
  const kernel = new FakeKernel();
  const link = await opened(kernel);
  const [old, answer] = [kernel.comm, link.channel!.ask('compact')];
  kernel.turn(status);
  await expect(answer).rejects.toThrow('gone');
  expect([link.phase, link.store.status, link.channel]).toEqual(['restarted', 'lost', null]);
  kernel.say({ ...DOC, rev: 9, set: { name: 'late' } }, old);
  expect(link.store.doc?.name).toBe('audit');
  expect(link.store.status).toBe('lost');

  kernel.publish('comm_open', { comm_id: 'b', target_name: ANNOUNCE, data: {} });
  await settled();
  kernel.say({ ...DOC, set: { name: 'new' } });
  expect([link.phase, link.store.doc?.name]).toEqual(['open', 'new']);
});

test('a kernel without ethang_nb stays one when it restarts', async () => {
  const kernel = new FakeKernel();
  const link = await linked(kernel);
  kernel.turn('restarting');
  expect(link.phase).toBe('absent');
});

test('a dead kernel is told from a restarted one', async () => {
  const kernel = new FakeKernel();
  const link = await opened(kernel);
  kernel.turn('dead');
  expect([link.phase, link.store.status]).toEqual(['dead', 'lost']);
});

test('a lost connection makes the numbers past; once it is back they are asked for anew', async () => {
  const kernel = new FakeKernel();
  const link = await opened(kernel);
  kernel.connect('connecting');
  expect([link.phase, link.store.status]).toEqual(['disconnected', 'lost']);
  kernel.connect('connected');
  await settled();
  kernel.say(DOC);
  expect([link.phase, link.store.status]).toEqual(['open', 'live']);
  expect(kernel.of('comm_open')).toHaveLength(2);
});

test('the comm goes on over another connection when the first is closed', async () => {
  const [first, second] = [new FakeKernel(), new FakeKernel()];
  const link = await opened(first);
  link.add(second.connection);
  first.isDisposed = true;
  expect(link.remove(first.connection)).toBe(true);
  second.say({ ...DOC, rev: 2, set: { name: 'later' } }, first.comm);
  expect(link.store.doc?.name).toBe('later');
  void link.channel!.ask('stop');
  expect(second.of('comm_msg')).toMatchObject([{ subshell: 'sub1', content: { comm_id: first.comm } }]);
});

test('a kernel that refuses the comm has no ethang_nb; one that closes it later unloaded it', async () => {
  const kernel = new FakeKernel();
  kernel.announced = ['a'];
  const link = await linked(kernel);
  kernel.publish('comm_close', { comm_id: kernel.comm, data: {} });
  expect(link.phase).toBe('absent');
  const other = new FakeKernel();
  const loaded = await opened(other);
  other.publish('comm_close', { comm_id: other.comm, data: {} });
  expect([loaded.phase, loaded.store.status]).toEqual(['unloaded', 'lost']);
});

test('a page that goes closes the comm and its subshell', async () => {
  const kernel = new FakeKernel();
  const link = await opened(kernel);
  link.dispose();
  link.dispose();
  // Not in the subshell: that one is gone before it would be heard.
  expect(kernel.of('comm_close')).toMatchObject([{ content: { comm_id: kernel.comm }, subshell: null }]);
  expect(kernel.of('delete_subshell_request')).toMatchObject([{ content: { subshell_id: 'sub1' } }]);
});

test('with another source a new document begins, asked for from nothing', async () => {
  const kernel = new FakeKernel();
  const link = await opened(kernel);
  const list = { t: 'list', sources: [{ id: 'b', name: 'b', kind: 'session', state: 'idle' }], shown: 'b' };
  kernel.say(list);
  expect(kernel.of('comm_msg').at(-1)?.content.data).toMatchObject({ ask: 'hello', rev: -1 });
  expect(link.store.doc).toBeNull();
  kernel.say({ ...DOC, set: { name: 'b' } });
  const said = kernel.sent.length;
  kernel.say(list);
  expect([link.store.doc?.name, kernel.sent.length]).toEqual(['b', said]);
});

test('another source is asked for by its id', async () => {
  const kernel = new FakeKernel();
  const link = await opened(kernel);
  link.show('session:b');
  expect(kernel.of('comm_msg').at(-1)?.content.data).toMatchObject({ ask: 'show', source: 'session:b' });
});
