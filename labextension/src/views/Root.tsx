/** Root: one view of a store, drawn again whenever the store changes and somebody can see it. */
import { render } from 'preact';
import { useLayoutEffect, useReducer } from 'preact/hooks';
import type { Asker } from './channel';
import { ContextView } from './ContextView';
import { Standing } from './parts/Standing';
import { VIEWS } from './registry';
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
  const Draw = VIEWS.find(({ id }) => id === view)?.draw ?? ContextView;
  return <Draw doc={store.doc} status={store.status} ask={ask} options={options} />;
}

/**
 * Calls `draw` for each change while `el` is in sight, and once when it comes back into sight: the cells of a long
 * notebook may show one session many times.
 */
function whileSeen(el: HTMLElement, store: Store, draw: () => void): () => void {
  let seen = true;
  let missed = false;
  const away = store.subscribe(() => {
    missed = !seen;
    if (seen) {
      draw();
    }
  });
  if (typeof IntersectionObserver === 'undefined') {
    return away;
  }
  const eye = new IntersectionObserver(entries => {
    seen = entries.at(-1)?.isIntersecting ?? true;
    if (seen && missed) {
      missed = false;
      draw();
    }
  });
  eye.observe(el);
  return () => {
    eye.disconnect();
    away();
  };
}

/** Draws into `el`; returns how to take it away. */
export function show(el: HTMLElement, shown: Shown): () => void {
  // A notebook's shortcuts of one letter must not act on what is pressed in here; Ctrl+S and its like may. JupyterLab
  // listens at the document before anybody inside it is told, so the window is where it can be said in time.
  const keys = (event: KeyboardEvent) =>
    el.toggleAttribute('data-lm-suppress-shortcuts', !(event.ctrlKey || event.metaKey || event.altKey));
  window.addEventListener('keydown', keys, true);
  el.addEventListener('keydown', quiet);
  el.classList.add('eth-live');
  render(<Root {...shown} el={el} />, el);
  return () => {
    window.removeEventListener('keydown', keys, true);
    el.removeEventListener('keydown', quiet);
    render(null, el);
  };
}

/** Other hosts listen above us: what is pressed in here stays in here. */
function quiet(event: KeyboardEvent): void {
  if (!(event.ctrlKey || event.metaKey || event.altKey)) {
    event.stopPropagation();
  }
}
