/** Follows the notebook or console that a person works in. A file or a terminal in front of it changes nothing. */
import type { ILabShell } from '@jupyterlab/application';
import type { ISessionContext } from '@jupyterlab/apputils';
import type { IConsoleTracker } from '@jupyterlab/console';
import type { INotebookTracker } from '@jupyterlab/notebook';
import { Token } from '@lumino/coreutils';
import type { IDisposable } from '@lumino/disposable';
import { type ISignal, Signal } from '@lumino/signaling';
import type { Widget } from '@lumino/widgets';
import { type Link, Links } from './link';
import { tellViews } from './lost';
import type { Situation } from './reason';

export const IFollower = new Token<Follower>('ethang-nb:IFollower', 'The notebook or console that a person works in.');

/** A notebook or a console. */
type Place = Widget & { readonly sessionContext: ISessionContext };

export class Follower implements IDisposable {
  isDisposed = false;
  readonly links = new Links();
  private place: Place | null = null;
  private joined: Link | null = null;
  private signal = new Signal<this, void>(this);

  constructor(
    private notebooks: INotebookTracker,
    private consoles: IConsoleTracker | null,
    shell: ILabShell | null
  ) {
    for (const tracker of this.trackers) {
      tracker.forEach((place: Place) => this.know(place));
      tracker.widgetAdded.connect(this.added, this);
      tracker.currentChanged.connect(this.turned, this);
    }
    shell?.currentChanged.connect(this.moved, this);
    // The one in front may be there already.
    this.consider(shell?.currentWidget ?? null);
    this.settle();
  }

  /** Emitted when another kernel is followed, or anything but the document of this one changes. */
  get changed(): ISignal<this, void> {
    return this.signal;
  }

  /** What there is of the kernel that is followed; null where there is none. */
  get link(): Link | null {
    return this.joined;
  }

  get situation(): Situation {
    const [session, link] = [this.place?.sessionContext, this.joined];
    const kernel = session?.session?.kernel;
    const status = session?.kernelDisplayStatus;
    return {
      name: this.place?.title.label ?? null,
      kernel: !!kernel || status === 'initializing' || status === 'starting',
      starting: !kernel || status === 'starting' || status === 'restarting' || status === 'initializing',
      phase: link?.phase ?? null,
      sources: link?.sources.length ?? 0,
      drawn: !!link?.store.doc
    };
  }

  /** Where the notebook lies, "" without one. */
  get path(): string {
    return this.place?.sessionContext.path ?? '';
  }

  dispose(): void {
    if (!this.isDisposed) {
      this.isDisposed = true;
      this.links.dispose();
      Signal.clearData(this);
    }
  }

  private get trackers(): (INotebookTracker | IConsoleTracker)[] {
    return this.consoles ? [this.notebooks, this.consoles] : [this.notebooks];
  }

  private added(_: unknown, place: Place): void {
    this.know(place);
    this.settle();
  }

  private know(place: Place): void {
    this.links.watch(place.sessionContext);
    tellViews(place);
  }

  private turned(_: unknown, place: Place | null): void {
    this.consider(place);
    this.settle();
  }

  private moved(_: unknown, { newValue }: ILabShell.IChangedArgs): void {
    this.consider(newValue);
  }

  /** Follows a widget if it is a notebook or a console. */
  private consider(widget: Widget | null): void {
    if (widget && !widget.isDisposed && this.trackers.some(tracker => tracker.has(widget))) {
      this.follow(widget as Place);
    }
  }

  /** Follows what is left where what was followed is closed. */
  private settle(): void {
    if (!this.place || this.place.isDisposed) {
      this.follow(this.notebooks.currentWidget ?? this.consoles?.currentWidget ?? null);
    }
  }

  private follow(place: Place | null): void {
    if (place === this.place) {
      return;
    }
    this.leave();
    this.place = place;
    if (place) {
      this.links.watch(place.sessionContext); // before we listen: its kernel is known first
      place.sessionContext.kernelChanged.connect(this.look, this);
      place.sessionContext.statusChanged.connect(this.look, this);
      place.sessionContext.connectionStatusChanged.connect(this.look, this);
      place.title.changed.connect(this.look, this);
      place.disposed.connect(this.closed, this);
      void place.sessionContext.ready.then(() => this.look());
    }
    this.look();
  }

  private leave(): void {
    const place = this.place;
    if (place && !place.isDisposed) {
      place.sessionContext.kernelChanged.disconnect(this.look, this);
      place.sessionContext.statusChanged.disconnect(this.look, this);
      place.sessionContext.connectionStatusChanged.disconnect(this.look, this);
      place.title.changed.disconnect(this.look, this);
      place.disposed.disconnect(this.closed, this);
    }
  }

  private closed(): void {
    this.place = null;
    this.settle();
    this.look();
  }

  private look(): void {
    if (this.isDisposed) {
      return;
    }
    const link = this.links.of(this.place?.sessionContext ?? null);
    if (link !== this.joined) {
      this.joined?.changed.disconnect(this.tell, this);
      this.joined = link;
      link?.changed.connect(this.tell, this);
    }
    this.tell();
  }

  private tell(): void {
    this.signal.emit();
  }
}

/** Calls `draw` whenever the follower or the document it shows changes; returns how to end that. */
export function watch(follower: Follower, draw: () => void): () => void {
  let left = () => undefined as void;
  const change = () => {
    left();
    left = follower.link?.store.subscribe(draw) ?? (() => undefined);
    draw();
  };
  follower.changed.connect(change);
  change();
  return () => {
    follower.changed.disconnect(change);
    left();
  };
}
