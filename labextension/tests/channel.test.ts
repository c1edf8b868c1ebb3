import { describe, expect, it, vi } from 'vitest';
import { Channel, offline, type Part, Silent, type Told } from '../src/views/channel';
import type { Doc } from '../src/views/doc';

function parts(message: object, number = 1, size = Infinity): Part[] {
  const text = JSON.stringify(message);
  const n = Math.max(1, Math.ceil(text.length / size));
  return Array.from({ length: n }, (_, i) => {
    return { t: 'part', m: number, i, n, s: n === 1 ? text : text.slice(i * size, (i + 1) * size) };
  });
}

function channel() {
  const sent: Record<string, unknown>[] = [];
  const told: Told[] = [];
  return { sent, told, it: new Channel(message => sent.push(message), message => told.push(message)) };
}

describe('a channel', () => {
  it('brings a reply to the ask it answers, whatever came between', async () => {
    const { it: way, sent } = channel();
    const first = way.ask('policies');
    const second = way.ask('trace', { text: 'ORD-88421' });
    const ids = sent.map(({ id }) => id);
    expect(sent).toEqual([
      { id: ids[0], ask: 'policies' },
      { id: ids[1], ask: 'trace', text: 'ORD-88421' }
    ]);
    for (const part of parts({ t: 'reply', id: ids[1], ok: true, data: 'b' })) way.receive(part);
    for (const part of parts({ t: 'reply', id: ids[0], ok: true, data: 'a' })) way.receive(part);
    expect(await first).toBe('a');
    expect(await second).toBe('b');
  });

  it('joins parts that come in any order, and parts of two messages that come between each other', () => {
    const { it: way, told } = channel();
    const one = parts({ t: 'frame', rev: 1, base: null, set: { name: 'one' } }, 7, 10);
    const two = parts({ t: 'frame', rev: 2, base: 1, set: { name: 'two' } }, 8, 10);
    expect(one.length).toBeGreaterThan(3);
    for (const part of [...two.slice(1), ...one.reverse(), two[0]!]) way.receive(part);
    expect(told.map(message => (message as { rev?: number }).rev)).toEqual([1, 2]);
  });

  it('gives the one line of a refusal', async () => {
    const { it: way, sent } = channel();
    const asked = way.ask('pin', { text: '' });
    for (const part of parts({ t: 'reply', id: sent[0]!.id, ok: false, error: "nothing to pin in ''" })) way.receive(part);
    await expect(asked).rejects.toThrow("nothing to pin in ''");
  });

  it('says that the kernel is silent after the patience it was given, and takes no late answer', async () => {
    vi.useFakeTimers();
    const { it: way, sent } = channel();
    const asked = way.ask('stop', {}, 1000);
    const failed = expect(asked).rejects.toBeInstanceOf(Silent);
    await vi.advanceTimersByTimeAsync(1000);
    await failed;
    for (const part of parts({ t: 'reply', id: sent[0]!.id, ok: true, data: {} })) way.receive(part);
    vi.useRealTimers();
  });

  it('takes no answer to what another view asked over the same comm', async () => {
    const [one, two] = [channel(), channel()];
    const answered: unknown[] = [];
    void one.it.ask('trace', { text: 'a' }).then(data => answered.push(data));
    void two.it.ask('trace', { text: 'b' });
    expect(one.sent[0]!.id).not.toBe(two.sent[0]!.id);
    for (const part of parts({ t: 'reply', id: two.sent[0]!.id, ok: true, data: 'b' })) one.it.receive(part);
    await Promise.resolve();
    expect(answered).toEqual([]);
  });

  it('lets nobody wait for a kernel that is gone', async () => {
    const { it: way, sent } = channel();
    const asked = way.ask('trace', { text: 'x' });
    way.lose();
    await expect(asked).rejects.toThrow('gone');
    await expect(way.ask('policies')).rejects.toThrow('gone');
    expect(sent.length).toBe(1);
  });

  it('leaves alone what is no part of ours', () => {
    const { it: way, told } = channel();
    for (const message of [null, 'x', 7, {}, { t: 'other' }]) way.receive(message);
    expect(told).toEqual([]);
  });
});

describe('a saved document', () => {
  const doc = { diffs: [{ step: 3, left: [] }] } as unknown as Doc;

  it('answers what it holds, and says of the rest that it is saved', async () => {
    const ask = offline(doc, { '4': { title: 'a', parts: [] } });
    expect(ask.live).toBe(false);
    expect(await ask.ask('diff', { index: 0 })).toEqual({ step: 3, left: [] });
    expect(await ask.ask('segment', { segment: '4' })).toEqual({ title: 'a', parts: [] });
    for (const [what, args] of [['diff', { index: 1 }], ['segment', { segment: '5' }], ['trace', {}]] as const) {
      await expect(ask.ask(what, args)).rejects.toThrow('saved view');
    }
  });
});
