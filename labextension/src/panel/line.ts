/**
 * One comm of ours towards a kernel, over whichever connection there is.
 *
 * JupyterLab lets only the first connection of a kernel use its Comm class: a console beside a notebook would get
 * none, and neither would it when the notebook closes. Messages are the same on every connection, so these are made
 * by hand: sent over any, and heard among what the kernel publishes. They travel in a subshell of their own, so that
 * the kernel hears them while a cell is busy.
 */
import { type Kernel, KernelMessage } from '@jupyterlab/services';
import { type JSONObject, UUID } from '@lumino/coreutils';

// ► milliseconds until a kernel that makes no subshell is spoken to without one. JupyterLab itself holds messages back for
// 3,000 where a busy kernel does not say what it can.
const PATIENCE = 10_000;

export class Line {
  readonly id = UUID.uuid4();
  private subshell: string | null = null;

  /** `kernel` gives the connection to use now: the one of the start may be closed before the others. */
  constructor(
    private target: string,
    private kernel: () => Kernel.IKernelConnection | null,
    private told: (data: JSONObject) => void,
    private closed: () => void
  ) {}

  async open(): Promise<void> {
    const kernel = this.kernel();
    this.subshell = kernel ? await subshell(kernel) : null;
    this.post('comm_open', { target_name: this.target });
  }

  send(data: JSONObject): void {
    this.post('comm_msg', { data });
  }

  /** Takes what the kernel publishes; what belongs to other comms is passed over. */
  hear(message: KernelMessage.IIOPubMessage): void {
    if (KernelMessage.isCommMsgMsg(message) && message.content.comm_id === this.id) {
      this.told(message.content.data);
    } else if (KernelMessage.isCommCloseMsg(message) && message.content.comm_id === this.id) {
      this.closed();
    }
  }

  /** Says goodbye where there is still somebody to say it to. */
  close(): void {
    const [kernel, subshell] = [this.kernel(), this.subshell];
    // The subshell ends at once and what was sent to it with it, so this goes to the main shell, which may take its time.
    this.subshell = null;
    this.post('comm_close', {});
    if (kernel && reachable(kernel) && subshell) {
      end(kernel, subshell);
    }
  }

  private post(msgType: 'comm_open' | 'comm_msg' | 'comm_close', content: JSONObject): void {
    const kernel = this.kernel();
    if (kernel && reachable(kernel)) {
      // The three differ in what they hold only.
      const message = KernelMessage.createMessage<KernelMessage.ICommMsgMsg<'shell'>>({
        msgType: msgType as 'comm_msg',
        channel: 'shell',
        subshellId: this.subshell,
        content: { comm_id: this.id, data: {}, ...content },
        ...sender(kernel)
      });
      kernel.sendShellMessage(message, false, true);
    }
  }
}

function sender(kernel: Kernel.IKernelConnection): { username: string; session: string } {
  return { username: kernel.username, session: kernel.clientId };
}

/** Asks which comms of a target the kernel has, past a busy cell where `aside`. */
export async function comms(kernel: Kernel.IKernelConnection, target: string, aside: boolean): Promise<string[]> {
  const beside = aside ? await subshell(kernel) : null;
  const message = KernelMessage.createMessage<KernelMessage.ICommInfoRequestMsg>({
    msgType: 'comm_info_request',
    channel: 'shell',
    subshellId: beside,
    content: { target_name: target },
    ...sender(kernel)
  });
  const reply = (await kernel.sendShellMessage(message, true, true).done) as KernelMessage.ICommInfoReplyMsg;
  if (beside) {
    end(kernel, beside);
  }
  return reply.content.status === 'ok' ? Object.keys(reply.content.comms) : [];
}

export function reachable(kernel: Kernel.IKernelConnection): boolean {
  return !kernel.isDisposed && kernel.connectionStatus === 'connected' && kernel.status !== 'dead';
}

/**
 * A new subshell; null where the settings want none or the kernel makes none.
 *
 * A busy kernel has not told yet what it can (its answer waits for the cell), so the request itself finds out.
 */
async function subshell(kernel: Kernel.IKernelConnection): Promise<string | null> {
  const unknown = Symbol();
  const info = await Promise.race([kernel.info.catch(() => unknown), Promise.resolve(unknown)]);
  const able = info === unknown || kernel.supportsSubshells;
  if (!able || kernel.commsOverSubshells === 'disabled') {
    return null;
  }
  const request = KernelMessage.createMessage<KernelMessage.ICreateSubshellRequestMsg>({
    msgType: 'create_subshell_request',
    channel: 'control',
    content: {},
    ...sender(kernel)
  });
  const made = kernel.sendControlMessage(request, true, true).done.then(
    reply => (reply as KernelMessage.ICreateSubshellReplyMsg).content.subshell_id ?? null,
    () => null
  );
  return Promise.race([made, new Promise<null>(none => setTimeout(() => none(null), PATIENCE))]);
}

function end(kernel: Kernel.IKernelConnection, subshell: string): void {
  const request = KernelMessage.createMessage<KernelMessage.IDeleteSubshellRequestMsg>({
    msgType: 'delete_subshell_request',
    channel: 'control',
    content: { subshell_id: subshell },
    ...sender(kernel)
  });
  kernel.sendControlMessage(request, false, true);
}
