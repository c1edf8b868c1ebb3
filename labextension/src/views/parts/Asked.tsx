/** What is asked of the kernel: busy, then data or one line of error. */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Asker } from '../channel';
import { line } from '../format';

type Args = Record<string, unknown>;

export interface Answer<T> {
  busy: boolean;
  data: T | null;
  /** What the data answers. */
  asked: Args | null;
  error: string;
}

export interface Asking<T> extends Answer<T> {
  /**
   * Asks. While an answer is awaited, only the last of what is asked meanwhile follows it: a slider asks a lot. What
   * was answered stays until the next answer; where an ask fails too, since a number half typed must not empty a view.
   */
  go: (args?: Args) => void;
  /** Forgets what was answered, and what comes of asks that are under way. */
  clear: () => void;
}

const NOTHING = { busy: false, data: null, asked: null, error: '' };

export function useAsk<T>(ask: Asker, what: string): Asking<T> {
  const [answer, set] = useState<Answer<T>>(NOTHING);
  const own = useRef<{ flying?: Args; next?: Args }>({}).current;
  const go = (args: Args = {}) => {
    if (own.flying) {
      own.next = args;
      return;
    }
    own.flying = args;
    set(was => ({ ...was, busy: true, error: '' }));
    const settle = (change: Partial<Answer<T>>) => {
      if (own.flying === args) {
        const { next } = own;
        own.flying = own.next = undefined;
        set(was => ({ ...was, busy: false, ...change }));
        if (next) {
          go(next);
        }
      }
    };
    ask.ask(what, args).then(
      data => settle({ data, asked: args }),
      (why: Error) => settle({ error: why.message })
    );
  };
  const clear = () => {
    own.flying = own.next = undefined;
    set(NOTHING);
  };
  useEffect(() => () => void (own.flying = undefined), []);
  return { ...answer, go, clear };
}

/** What came of an ask: its error, that it is under way, or what an act says it did. */
export function Asked({ of, doing = 'asking the kernel' }: { of: Answer<unknown>; doing?: string }) {
  const { said = '' } = (of.data ?? {}) as { said?: string };
  return of.error ? (
    <p class="e-stop" role="alert">
      {line(of.error, 300)}
    </p>
  ) : (
    <p class={of.busy ? 'e-busy' : 'e-result'} role="status">
      {of.busy ? `${doing}…` : line(said, 400)}
    </p>
  );
}
