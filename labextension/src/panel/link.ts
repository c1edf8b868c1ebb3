/**
 * What the front end has of one kernel: whether ethang_nb is loaded there, and if so its sources and the document.
 *
 * A kernel without ethang_nb is asked one question (which comms of ours it has) and gets nothing else; no code runs.
 * After a restart nothing of the old kernel is heard any more, and what is shown is past.
 */
import type { ISessionContext } from '@jupyterlab/apputils';
import { type Kernel, KernelMessage } from '@jupyterlab/services';
import type { JSONObject } from '@lumino/coreutils';
import type { IDisposable } from '@lumino/disposable';
import { type ISignal, Signal } from '@lumino/signaling';
import { Channel, type Listed, type Told } from '../views/channel';
import { Store } from '../views/store';
import { comms, Line, reachable } from './line';

export const PANEL = 'ethang_nb.panel';
export const ANNOUNCE = 'ethang_nb.announce';

/**
 * `asking` whether ethang_nb is there, `absent` where it is not, `opening` until its first word, then `open`;
 * `restarted`, `dead`, `disconnected` and `unloaded` say why there is no more.
 */
export type Phase = 'asking' | 'absent' | 'opening' | 'open' | 'restarted' | 'dead' | 'disconnected' | 'unloaded';

export class Link implements IDisposable {
  phase: Phase = 'asking';
  store = new Store();
  channel: Channel | null = null;
  sources: readonly Listed[] = [];
  shown: string | null = null;
  private line: Line | null = null;
  private connections: Kernel.IKernelConnection[] = [];
  private heard: Kernel.IKernelConnection | null = null;
  /** What began before it last changed is not waited for any more. */
  private turn = 0;
  /** Whether it was asked past a busy cell already. */
  private aside = false;
  private signal = new Signal<this, void>(this);

  /** Emitted when anything but the document changes; the store tells of that. */
  get changed(): ISignal<this, void> {
    return this.signal;
  }

  isDisposed = false;

  /** Whether one of the connections knows the comm, as it does of a widget that lives. */
  knows(comm: string): boolean {
    return this.connections.some(kernel => !kernel.isDisposed && kernel.hasComm(comm));
  }

  /** One more connection to this kernel. The target is registered, else JupyterLab would close the kernel's comm. */
  add(kernel: Kernel.IKernelConnection): void {
    this.connections.push(kernel);
    kernel.registerCommTarget(ANNOUNCE, leaveOpen);
    if (!this.heard) {
      this.listen(kernel);
      void this.discover();
    }
  }

  /** Returns whether any connection is left. */
  remove(kernel: Kernel.IKernelConnection): boolean {
    this.connections = this.connections.filter(other => other !== kernel);
    if (!kernel.isDisposed) {
      kernel.removeCommTarget(ANNOUNCE, leaveOpen);
    }
    if (this.heard === kernel) {
      const next = this.connections[0] ?? null;
      if (!next) {
        this.line?.close();
      }
      this.listen(next);
    }
    return this.connections.length > 0;
  }

  /** Shows another of the kernel's sources; its document comes by itself. */
  show(source: string): void {
    this.channel?.ask('show', { source }).catch(() => this.signal.emit());
  }

  /** Ends the comm, so that the kernel sends nothing more to a page that goes. */
  dispose(): void {
    if (!this.isDisposed) {
      this.isDisposed = true;
      this.line?.close();
      this.drop('disconnected');
      this.listen(null);
      Signal.clearData(this);
    }
  }

  private listen(kernel: Kernel.IKernelConnection | null): void {
    this.heard?.iopubMessage.disconnect(this.hear, this);
    this.heard?.statusChanged.disconnect(this.status, this);
    this.heard?.connectionStatusChanged.disconnect(this.connection, this);
    this.heard = kernel;
    kernel?.iopubMessage.connect(this.hear, this);
    kernel?.statusChanged.connect(this.status, this);
    kernel?.connectionStatusChanged.connect(this.connection, this);
  }

  /** Asks whether ethang_nb is there: after a reload of the page it may be. `aside` where a cell may be busy. */
  private async discover(aside = false): Promise<void> {
    const turn = this.enter('asking');
    this.aside = aside;
    const kernel = this.heard;
    const found = kernel ? await comms(kernel, ANNOUNCE, aside).catch(() => []) : [];
    if (turn === this.turn) {
      found.length ? void this.open() : this.enter('absent');
    }
  }

  private async open(): Promise<void> {
    const turn = this.enter('opening');
    const mine = () => turn === this.turn;
    const line = new Line(
      PANEL,
      () => this.heard,
      data => mine() && this.receive(data),
      () => mine() && this.drop(this.phase === 'opening' ? 'absent' : 'unloaded')
    );
    const channel = new Channel(message => line.send(message as JSONObject), message => mine() && this.told(message));
    this.line = line;
    await line.open();
    if (!mine()) {
      line.close();
      return;
    }
    this.channel = channel;
    this.begin();
    this.signal.emit();
  }

  /** A new document, for another source or another kernel: revisions of one mean nothing to the other. */
  private begin(): void {
    this.store.close();
    const store: Store = new Store(() => this.channel?.hello(store.revision));
    this.store = store;
  }

  private receive(data: JSONObject): void {
    if (this.phase === 'opening') {
      this.phase = 'open';
      this.signal.emit();
    }
    this.channel?.receive(data);
  }

  private told(message: Told): void {
    if (message.t === 'frame') {
      this.store.apply(message);
    } else if (message.t === 'list') {
      const other = message.shown !== null && message.shown !== this.shown;
      this.sources = message.sources;
      this.shown = message.shown;
      if (other) {
        this.begin();
        this.store.ask();
      }
      this.signal.emit();
    } else {
      this.store.end('ended');
    }
  }

  /** The kernel's half is gone: what is shown becomes past, nothing is asked any more. */
  private drop(phase: Phase): void {
    this.line = null;
    this.channel?.lose();
    this.channel = null;
    this.sources = [];
    this.shown = null;
    this.store.end('lost');
    this.enter(phase);
  }

  private enter(phase: Phase): number {
    this.phase = phase;
    this.turn++;
    this.signal.emit();
    return this.turn;
  }

  private hear(_: unknown, message: KernelMessage.IIOPubMessage): void {
    this.line?.hear(message);
    if (this.phase === 'opening' || this.phase === 'open') {
      return;
    }
    const said = told(message);
    if (said === 'announced') {
      void this.open();
    } else if (said === 'at work' && this.phase === 'asking' && !this.aside) {
      void this.discover(true);
    }
  }

  private status(_: unknown, status: Kernel.Status): void {
    const known = this.phase === 'opening' || this.phase === 'open';
    if (status === 'dead') {
      this.drop('dead');
    } else if (status === 'restarting' || status === 'autorestarting' || (status === 'starting' && known)) {
      // A kernel that somebody else restarted only says that it is starting.
      this.drop(known || this.phase === 'restarted' ? 'restarted' : 'absent');
    }
  }

  private connection(kernel: Kernel.IKernelConnection): void {
    const lost = this.phase === 'disconnected';
    if (lost && reachable(kernel)) {
      void this.discover();
    } else if (!lost && kernel.connectionStatus !== 'connected' && (this.phase === 'open' || this.phase === 'opening')) {
      this.drop('disconnected');
    }
  }
}

/** The links of all kernels that notebooks and consoles use, by kernel id. */
export class Links implements IDisposable {
  isDisposed = false;
  private links = new Map<string, Link>();
  private watched = new Map<ISessionContext, Kernel.IKernelConnection | null>();

  /** Follows the kernels of a session until it is disposed. */
  watch(session: ISessionContext): void {
    if (this.watched.has(session)) {
      return;
    }
    this.watched.set(session, null);
    session.kernelChanged.connect(this.swap, this);
    session.disposed.connect(this.forget, this);
    this.swap(session);
  }

  of(session: ISessionContext | null): Link | null {
    const kernel = session?.session?.kernel;
    return (kernel && this.links.get(kernel.id)) ?? null;
  }

  /** Whether a widget's comm lives in any kernel here. */
  knows(comm: string): boolean {
    return [...this.links.values()].some(link => link.knows(comm));
  }

  /** Closes every comm: the page goes. */
  dispose(): void {
    this.isDisposed = true;
    this.links.forEach(link => link.dispose());
    this.links.clear();
    Signal.clearData(this);
  }

  private swap(session: ISessionContext): void {
    const [old, next] = [this.watched.get(session) ?? null, session.session?.kernel ?? null];
    if (old === next) {
      return;
    }
    this.watched.set(session, next);
    this.leave(old);
    if (next) {
      const link = this.links.get(next.id) ?? new Link();
      this.links.set(next.id, link);
      link.add(next);
    }
  }

  private forget(session: ISessionContext): void {
    this.leave(this.watched.get(session) ?? null);
    this.watched.delete(session);
  }

  private leave(kernel: Kernel.IKernelConnection | null): void {
    const link = kernel && this.links.get(kernel.id);
    if (link && !link.remove(kernel)) {
      link.dispose();
      this.links.delete(kernel.id);
    }
  }
}

/**
 * The kernel's announcing comm stays open there; here nothing of it is kept.
 *
 * What it says is heard among the published messages, which every connection gets. JupyterLab starts a subshell for
 * it all the same, and ends it with its last comm.
 */
function leaveOpen(comm: Kernel.IComm): void {
  const started = (comm as { subshellStarted?: Promise<void> }).subshellStarted;
  void started?.then(
    () => comm.dispose(),
    () => undefined
  );
}

/**
 * What a published message says of ethang_nb: that it is loaded, or that a view of it is at work (which it can be
 * without the extension being loaded).
 */
export function told(message: KernelMessage.IIOPubMessage): 'announced' | 'at work' | null {
  if (KernelMessage.isCommOpenMsg(message)) {
    return message.content.target_name === ANNOUNCE ? 'announced' : null;
  }
  if (!KernelMessage.isCommMsgMsg(message)) {
    return null;
  }
  const data = message.content.data as { t?: string; method?: string; content?: { t?: string } };
  const part = data.method === 'custom' ? data.content?.t === 'part' : data.t === 'part';
  return data.t === 'announce' ? 'announced' : part ? 'at work' : null;
}
