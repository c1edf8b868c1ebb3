/** The anywidget: one store per model, one drawing per view. `mount` draws a stored document in a saved page. */
import type { AnyModel } from '@anywidget/types';
import { type Asker, Channel, offline, type Part, type Told } from './views/channel';
import type { Doc } from './views/doc';
import { VIEWS } from './views/registry';
import { LOST, show } from './views/Root';
import { Store } from './views/store';

interface Traits {
  view: string;
  options: Record<string, unknown>;
  first: string;
}

type Model = AnyModel<Traits>;

/**
 * Every view of a model follows the kernel by itself: anywidget gives each an object of its own for the model, so there
 * is nothing that they could share. They stay in step because they hear the same.
 */
function render({ model, el }: { model: Model; el: HTMLElement }): () => void {
  const told = (message: Told) => {
    if (message.t === 'frame') {
      store.apply(message);
    } else if (message.t === 'end') {
      store.end('ended');
    }
  };
  const channel: Channel = new Channel(message => model.send(message), told);
  const store: Store = new Store(() => channel.hello(store.revision));
  const hear = (message: Part) => channel.receive(message);
  // ipywidgets says so of a restart, our extension of JupyterLab of every other end; elsewhere asks stay unanswered.
  const lose = () => {
    channel.lose();
    store.end('lost');
  };
  model.on('msg:custom', hear);
  model.on('comm_live_update', lose);
  const first = model.get('first');
  if (first) {
    store.apply(JSON.parse(first));
  }
  // What the kernel said before this ran is lost, so the whole is always asked for.
  store.ask();
  const root = document.createElement('div');
  root.addEventListener(LOST, lose);
  el.append(root);
  const away = show(root, { view: model.get('view'), store, ask: channel, options: model.get('options') });
  return () => {
    model.off('msg:custom', hear);
    model.off('comm_live_update', lose);
    store.close();
    away();
    root.remove();
  };
}

export interface Page {
  doc: Doc;
  view?: string;
  options?: Record<string, unknown>;
  /** Texts of segments, by id. */
  texts?: Record<string, unknown>;
  ask?: Asker;
  store?: Store;
}

/** Draws a stored document into `el`; returns how to take it away. */
export function mount(el: HTMLElement, { doc, view = 'context', options, texts, ask, store }: Page): () => void {
  return show(el, { view, store: store ?? Store.saved(doc), ask: ask ?? offline(doc, texts), options });
}

/** The names of all views. */
export const views = VIEWS.map(({ id }) => id);

export default { render };
