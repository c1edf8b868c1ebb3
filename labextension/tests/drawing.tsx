/** What tests of views share: a place to draw in, documents, and a kernel that answers at once. */
import type { ComponentChild } from 'preact';
import { render } from 'preact';
import { act } from 'preact/test-utils';
import type { Asker } from '../src/views/channel';
import type { Doc } from '../src/views/doc';
import type { ViewProps } from '../src/views/view';
import empty from './examples/empty.json';
import hostile from './examples/hostile.json';
import small from './examples/small.json';

const read = (from: unknown) => structuredClone(from) as Doc;
export const docs = { empty: () => read(empty), hostile: () => read(hostile), small: () => read(small) };

export async function draw(what: ComponentChild, into = document.body.appendChild(document.createElement('div'))) {
  await act(() => render(what, into));
  return into;
}

/** Does `what` and waits for the answers and drawings that follow from it. */
export async function settled(what: () => void = () => undefined) {
  await act(async () => {
    what();
    await new Promise(done => setTimeout(done));
  });
}

export function key(target: Element, name: string) {
  return settled(() => target.dispatchEvent(new KeyboardEvent('keydown', { key: name, bubbles: true })));
}

export function click(target: Element | undefined | null) {
  return settled(() => (target as HTMLElement).click());
}

export function button(within: Element, words: string): HTMLElement | undefined {
  return [...within.querySelectorAll('button')].find(one => (one.textContent + (one.ariaLabel ?? '')).includes(words));
}

/** A kernel: `answers` by ask; an Error is its refusal. Keeps what it was asked. */
export class Kernel implements Asker {
  live = true;
  asked: [string, Record<string, unknown> | undefined][] = [];

  constructor(private answers: Record<string, unknown> = {}) {}

  ask(what: string, args?: Record<string, unknown>): Promise<unknown> {
    this.asked.push([what, args]);
    const answer = this.answers[what];
    return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer);
  }
}

export function props(doc: Doc, more: Partial<ViewProps> = {}): ViewProps {
  return { doc, status: 'live', ask: new Kernel(), options: {}, ...more };
}
