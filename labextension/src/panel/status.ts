/** The status item: how full the window of the followed notebook's agent is. Hidden where there is none. */
import type { TranslationBundle } from '@jupyterlab/translation';
import { type ISignal, Signal } from '@lumino/signaling';
import { Widget } from '@lumino/widgets';
import type { Doc } from '../views/doc';
import { grouped, line, percent } from '../views/format';
import { type Follower, watch } from './follow';

export class FillItem extends Widget {
  private leave: () => void;
  private wanted = true;
  private was = false;
  private signal = new Signal<this, void>(this);

  /** `open` opens the panel. */
  constructor(
    private follower: Follower,
    private trans: TranslationBundle,
    open: () => void
  ) {
    super({ node: document.createElement('button') });
    this.addClass('jp-ethang-status');
    this.node.addEventListener('click', open);
    this.leave = watch(follower, () => this.update());
  }

  override dispose(): void {
    if (!this.isDisposed) {
      this.leave();
      Signal.clearData(this);
      super.dispose();
    }
  }

  /** Emitted when the item should appear or go. */
  get activeStateChanged(): ISignal<this, void> {
    return this.signal;
  }

  isActive(): boolean {
    return this.wanted && !!this.doc;
  }

  /** Whether a person wants to see it at all. */
  want(wanted: boolean): void {
    this.wanted = wanted;
    this.update();
  }

  protected override onUpdateRequest(): void {
    const doc = this.doc;
    if (doc) {
      this.node.textContent = short(doc);
      this.node.title = long(doc, this.trans);
    }
    if (this.was !== this.isActive()) {
      this.was = this.isActive();
      this.signal.emit();
    }
  }

  /** Only what is live: numbers of a kernel that is gone have no place in a status bar. */
  private get doc(): Doc | null {
    const link = this.follower.link;
    return link?.phase === 'open' ? link.store.doc : null;
  }
}

export function short({ budget, step }: Doc): string {
  return `ethang ${percent(budget.fill)}${step ? ` · step ${grouped(step)}` : ''}`;
}

export function long({ name, state, budget, window }: Doc, trans: TranslationBundle): string {
  return trans.__(
    'Session %1, %2: %3 of %4 usable tokens are in the context window. Click to see which.',
    line(name, 60),
    line(state, 30),
    grouped(budget.used),
    grouped(window.usable)
  );
}
