/**
 * The way between a view and its kernel: parts are joined to messages, asks find their replies.
 *
 * It knows neither widgets nor comms: whoever makes one says how to send, and hands it what comes in.
 */
import type { Diff, Doc } from './doc';

/** A piece of a message of the kernel, as it travels. */
export interface Part {
  t: 'part';
  /** Number of the message, number of this part, and how many parts there are. */
  m: number;
  i: number;
  n: number;
  s: string;
}

export interface Frame {
  t: 'frame';
  rev: number;
  base: number | null;
  [field: string]: unknown;
}

export interface Listed {
  id: string;
  name: string;
  kind: 'session' | 'context';
  state: string;
}

export interface SourceList {
  t: 'list';
  sources: Listed[];
  shown: string | null;
}

interface Reply {
  t: 'reply';
  id: string;
  ok: boolean;
  data?: unknown;
  error?: string;
}

export type Told = Frame | SourceList | { t: 'end' };

/** What a view can ask. `live` is false where no kernel stands behind it. */
export interface Asker {
  readonly live: boolean;
  /** Rejects with one clear line. `patience`: milliseconds until an answer is no longer waited for; without it, for ever. */
  ask(what: string, args?: Record<string, unknown>, patience?: number): Promise<any>;
}

/** Said by `ask` where the kernel is silent: the sign to say that only ■ helps. */
export class Silent extends Error {}
const GONE = 'The kernel behind this view is gone; run the notebook again.';

export class Channel implements Asker {
  live = true;
  /** Several views may speak over one comm, and each hears the replies to all: its own ids tell them apart. */
  #own = Math.random().toString(36).slice(2, 10);
  #next = 1;
  #waiting = new Map<string, { done: (data: unknown) => void; fail: (why: Error) => void }>();
  #gathered = new Map<number, string[]>();

  /** `send` brings a message to the kernel; `told` gets every whole message that answers no ask. */
  constructor(
    private send: (message: Record<string, unknown>) => void,
    private told: (message: Told) => void
  ) {}

  receive(message: unknown): void {
    const part = message as Part;
    if (part?.t !== 'part') {
      return;
    }
    const text = this.#join(part);
    if (text === null) {
      return;
    }
    const whole = JSON.parse(text) as Told | Reply;
    if (whole.t !== 'reply') {
      this.told(whole);
      return;
    }
    const waiting = this.#waiting.get(whole.id);
    this.#waiting.delete(whole.id);
    if (whole.ok) {
      waiting?.done(whole.data);
    } else {
      waiting?.fail(new Error(whole.error ?? 'no reason given'));
    }
  }

  ask(what: string, args: Record<string, unknown> = {}, patience?: number): Promise<any> {
    if (!this.live) {
      return Promise.reject(new Error(GONE));
    }
    const id = this.#number();
    return new Promise((done, fail) => {
      this.#waiting.set(id, { done, fail });
      if (patience !== undefined) {
        setTimeout(() => {
          if (this.#waiting.delete(id)) {
            fail(new Silent('the kernel does not answer'));
          }
        }, patience);
      }
      this.send({ ...args, id, ask: what });
    });
  }

  /** Asks for the whole document. What comes is a frame, not a reply. */
  hello(rev: number): void {
    this.send({ id: this.#number(), ask: 'hello', rev });
  }

  #number(): string {
    return `${this.#own}:${this.#next++}`;
  }

  /** The kernel is gone: nobody will be answered any more. */
  lose(): void {
    this.live = false;
    this.#gathered.clear();
    for (const { fail } of this.#waiting.values()) {
      fail(new Error(GONE));
    }
    this.#waiting.clear();
  }

  #join(part: Part): string | null {
    if (part.n === 1) {
      return part.s;
    }
    const parts = this.#gathered.get(part.m) ?? [];
    parts[part.i] = part.s;
    this.#gathered.set(part.m, parts);
    for (let i = 0; i < part.n; i++) {
      if (parts[i] === undefined) {
        return null;
      }
    }
    this.#gathered.delete(part.m);
    return parts.join('');
  }
}

/** Answers from a saved document what it holds; everything else needs a kernel, and says so. */
export function offline(doc: Doc, texts: Record<string, unknown> = {}): Asker {
  return {
    live: false,
    ask(what, args = {}) {
      const diff = what === 'diff' ? (doc.diffs[args.index as number] as Diff | undefined) : undefined;
      const text = what === 'segment' ? texts[args.segment as string] : undefined;
      const found = diff ?? text;
      return found === undefined
        ? Promise.reject(new Error('This is a saved view; run the notebook again for that.'))
        : Promise.resolve(found);
    }
  };
}
