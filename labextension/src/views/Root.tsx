/** Root: one view of a store, drawn again whenever the store changes and somebody can see it. */
import { render } from 'preact';
import { useLayoutEffect, useReducer } from 'preact/hooks';
import type { Asker } from './channel';
import { ContextView } from './ContextView';
import { Standing } from './parts/Standing';
import { VIEWS } from './registry';
import { keepKeys } from './shortcuts';
import type { Store } from './store';

export interface Shown {
  /** An id of the registry; anything else is the whole context. */
  view: string;
  store: Store;
  ask: Asker;
  options?: Record<string, unknown>;
}

/** The same object at every drawing: a view acts on options that are new. */
const NONE = {};

function Root({ view, store, ask, options = NONE, el }: Shown & { el: HTMLElement }) {
  const [, again] = useReducer<number, void>(count => count + 1, 0);
  useLayoutEffect(() => whileSeen(el, store, again), [store]);
  if (!store.doc) {
    return <Standing status={store.status} />;
  }
  const props = { doc: store.doc, status: store.status, ask, options };
  const Draw = VIEWS.find(({ id }) => id === view)?.draw;
  if (!Draw) {
    return <ContextView {...props} />;
  }
  // A view that stands alone has nobody above it to say that its numbers are past.
  return (
    <>
      <Standing status={store.status} />
      <Draw {...props} />
    </>
  );
}

const HIDDEN = 2_000; // ► milliseconds between two drawings that nobody sees

/**
 * Calls `draw` for each change while `el` is in sight, and seldom while it is not: the cells of a long notebook may show
 * one session many times.
 */
function whileSeen(el: HTMLElement, store: Store, draw: () => void): () => void {
  let seen = true;
  let drawn = store.doc !== null;
  let later: ReturnType<typeof setTimeout> | undefined;
  const now = () => {
    clearTimeout(later);
    later = undefined;
    drawn = store.doc !== null;
    draw();
  };
  const away = store.subscribe(() => {
    if (seen || !drawn || store.status !== 'live') {
      now();
    } else {
      later ??= setTimeout(now, HIDDEN);
    }
  });
  const eye =
    typeof IntersectionObserver === 'undefined'
      ? undefined
      : new IntersectionObserver(entries => {
          seen = entries.at(-1)?.isIntersecting ?? true;
          if (seen && later !== undefined) {
            now();
          }
        });
  eye?.observe(el);
  return () => {
    clearTimeout(later);
    eye?.disconnect();
    away();
  };
}

/** The event by which a host says to a view's element that the kernel behind it is gone. */
export const LOST = 'ethang-lost';

/** Draws into `el`; returns how to take it away. */
export function show(el: HTMLElement, shown: Shown): () => void {
  const free = keepKeys(el);
  el.classList.add('eth-live');
  render(<Root {...shown} el={el} />, el);
  return () => {
    free();
    render(null, el);
  };
}
