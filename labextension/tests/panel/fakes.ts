/** Stand-ins for what JupyterLab gives: a kernel connection, a session, a tracker. They record what is sent. */
import type { Kernel, KernelMessage } from '@jupyterlab/services';
import { Signal } from '@lumino/signaling';
import { vi } from 'vitest';

// Lumino names it when it is loaded; jsdom has none.
vi.stubGlobal('DragEvent', class extends Event {});

export const settled = () => new Promise(done => setTimeout(done, 0));

interface Sent {
  type: string;
  content: Record<string, unknown>;
  subshell: string | null;
}

export class FakeKernel {
  clientId = 'client';
  username = 'user';
  status: Kernel.Status = 'idle';
  connectionStatus: Kernel.ConnectionStatus = 'connected';
  isDisposed = false;
  supportsSubshells = true;
  commsOverSubshells = 'perCommTarget';
  info: Promise<unknown> = Promise.resolve({});
  sent: Sent[] = [];
  targets: Record<string, unknown> = {};
  /** Comms that the kernel says it has; null: it does not answer on its main shell, for it is busy. */
  announced: string[] | null = [];
  iopubMessage = new Signal<this, KernelMessage.IIOPubMessage>(this);
  statusChanged = new Signal<this, Kernel.Status>(this);
  connectionStatusChanged = new Signal<this, Kernel.ConnectionStatus>(this);
  private subshells = 0;

  constructor(public id = 'k1') {}

  get connection(): Kernel.IKernelConnection {
    return this as unknown as Kernel.IKernelConnection;
  }

  registerCommTarget(name: string, callback: unknown): void {
    this.targets[name] = callback;
  }

  removeCommTarget(name: string): void {
    delete this.targets[name];
  }

  hasComm(id: string): boolean {
    return id === 'living';
  }

  sendShellMessage(message: KernelMessage.IShellMessage) {
    const subshell = message.header.subshell_id ?? null;
    this.sent.push({ type: message.header.msg_type, content: message.content as never, subshell });
    const busy = this.announced === null && !subshell;
    const comms = Object.fromEntries((this.announced ?? ['a']).map(id => [id, {}]));
    const reply = { content: { status: 'ok', comms } };
    return { done: busy ? new Promise(() => undefined) : Promise.resolve(reply) };
  }

  sendControlMessage(message: KernelMessage.IControlMessage) {
    this.sent.push({ type: message.header.msg_type, content: message.content as never, subshell: null });
    return { done: Promise.resolve({ content: { subshell_id: `sub${++this.subshells}` } }) };
  }

  /** What the kernel publishes. */
  publish(type: string, content: Record<string, unknown>): void {
    this.iopubMessage.emit({ header: { msg_type: type }, content, channel: 'iopub' } as never);
  }

  /** Says a whole message on the comm that was opened last. */
  say(message: object, comm = this.comm): void {
    this.publish('comm_msg', { comm_id: comm, data: { t: 'part', m: 1, i: 0, n: 1, s: JSON.stringify(message) } });
  }

  turn(status: Kernel.Status): void {
    this.status = status;
    this.statusChanged.emit(status);
  }

  connect(status: Kernel.ConnectionStatus): void {
    this.connectionStatus = status;
    this.connectionStatusChanged.emit(status);
  }

  /** The id of the comm that was opened last. */
  get comm(): string {
    return (this.of('comm_open').at(-1)?.content.comm_id as string) ?? '';
  }

  of(type: string): Sent[] {
    return this.sent.filter(one => one.type === type);
  }
}

export class FakeSession {
  kernelChanged = new Signal<this, unknown>(this);
  statusChanged = new Signal<this, unknown>(this);
  connectionStatusChanged = new Signal<this, unknown>(this);
  disposed = new Signal<this, void>(this);
  ready = Promise.resolve();
  path = 'a/b.ipynb';
  kernelDisplayStatus = 'idle';
  session: { kernel: FakeKernel | null };

  constructor(kernel: FakeKernel | null) {
    this.session = { kernel };
  }

  change(kernel: FakeKernel | null): void {
    this.session.kernel = kernel;
    this.kernelChanged.emit({});
  }
}

/** A notebook or console. */
export class FakePlace {
  isDisposed = false;
  disposed = new Signal<this, void>(this);
  title: { label: string; changed: Signal<unknown, void> };

  constructor(
    label: string,
    readonly sessionContext: FakeSession
  ) {
    this.title = { label, changed: new Signal<unknown, void>(this) };
  }

  close(): void {
    this.isDisposed = true;
    this.sessionContext.disposed.emit();
    this.disposed.emit();
  }
}

export class FakeTracker {
  places: FakePlace[] = [];
  currentWidget: FakePlace | null = null;
  widgetAdded = new Signal<this, FakePlace>(this);
  currentChanged = new Signal<this, FakePlace | null>(this);

  has(place: unknown): boolean {
    return this.places.includes(place as FakePlace);
  }

  forEach(each: (place: FakePlace) => void): void {
    this.places.forEach(each);
  }

  add(place: FakePlace): FakePlace {
    this.places.push(place);
    this.widgetAdded.emit(place);
    this.show(place);
    return place;
  }

  show(place: FakePlace | null): void {
    this.currentWidget = place;
    this.currentChanged.emit(place);
  }

  close(place: FakePlace): void {
    this.places = this.places.filter(other => other !== place);
    this.currentWidget = this.places.at(-1) ?? null;
    place.close();
  }
}
