import { describe, expect, it } from 'vitest';
import type { Frame } from '../src/views/channel';
import type { Doc } from '../src/views/doc';
import examples from './examples/frames.json';
import { Store } from '../src/views/store';

interface Examples {
  full: Frame;
  updates: Frame[];
  documents: Doc[];
}

const { full, updates, documents } = examples as unknown as Examples;

/** As it would travel: a store must not depend on sharing objects with whoever told it. */
const copy = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T;

describe('a store', () => {
  it('holds after every frame the document that Python holds', () => {
    const store = new Store();
    [full, ...updates].forEach((frame, at) => {
      store.apply(copy(frame));
      expect(copy(store.doc)).toEqual(documents[at]);
    });
    expect(store.status).toBe('live');
  });

  it('asks for the whole document once when it missed a frame, and goes on from that', () => {
    let asked = 0;
    const store = new Store(() => asked++);
    store.apply(copy(full));
    store.apply(copy(updates[1]!));
    store.apply(copy(updates[2]!));
    expect(asked).toBe(1);
    expect(copy(store.doc)).toEqual(documents[0]);
    store.apply({ ...copy(full), rev: updates[2]!.rev });
    store.apply({ ...copy(full), rev: updates[2]!.rev });
    expect(store.revision).toBe(updates[2]!.rev);
    store.apply({ t: 'frame', rev: 99, base: 98 });
    expect(asked).toBe(2);
  });

  it('takes a frame that it knows already for no gap', () => {
    let asked = 0;
    const store = new Store(() => asked++);
    for (const frame of [full, updates[0]!, updates[0]!]) store.apply(copy(frame));
    expect(asked).toBe(0);
    expect(copy(store.doc)).toEqual(documents[1]);
  });

  it('tells everybody who listens, until they leave', () => {
    const store = new Store();
    const heard: string[] = [];
    const away = store.subscribe(() => heard.push('one'));
    store.subscribe(() => heard.push('two'));
    store.apply(copy(full));
    away();
    store.end('lost');
    expect(heard).toEqual(['one', 'two', 'two']);
    expect(store.status).toBe('lost');
  });

  it('keeps a saved document as it is', () => {
    const store = Store.saved(documents[0]!);
    store.end('lost');
    expect(store.status).toBe('saved');
    expect(store.doc).toBe(documents[0]);
  });
});
