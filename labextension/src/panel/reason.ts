/** Why the panel shows no live view: one sentence for each reason, what to do next in it. Code stands in backticks. */
import type { TranslationBundle } from '@jupyterlab/translation';
import type { Phase } from './link';

export interface Situation {
  /** Whether a notebook or console is followed, and what it is called. */
  name: string | null;
  kernel: boolean;
  starting: boolean;
  phase: Phase | null;
  sources: number;
  /** Whether a document of this very source has come. */
  drawn: boolean;
}

const LOAD = '`%load_ext ethang_nb`';
const START = '`%%ethang --window 6000`';

/** "" where a live view can be drawn. */
export function reason({ name, kernel, starting, phase, sources, drawn }: Situation, trans: TranslationBundle): string {
  if (name === null) {
    return trans.__('No notebook or console is open. Open one to see the context window of its agent.');
  }
  if (phase === 'dead') {
    return trans.__('The kernel died. Restart it, then run %1 in a cell.', LOAD);
  }
  if (!kernel) {
    return trans.__('There is no kernel here. Choose one to go on.');
  }
  switch (phase) {
    case 'restarted':
      return trans.__('The kernel was restarted; the record is kept. Run %1 in a cell to go on.', LOAD);
    case 'disconnected':
      return trans.__('The connection to the kernel is lost; it is tried again.');
    case 'unloaded':
      return trans.__('ethang_nb was unloaded in this kernel. Run %1 in a cell to load it again.', LOAD);
    case 'opening':
      return trans.__('Connecting to ethang_nb in the kernel.');
    case 'open':
      return drawn ? '' : unspoken(sources, trans);
  }
  if (starting) {
    return trans.__('The kernel is starting.');
  }
  return phase === 'absent'
    ? trans.__('ethang_nb is not loaded in this kernel. Run %1 in a cell.', LOAD)
    : trans.__('The kernel does not answer yet: it may be busy with a cell.');
}

function unspoken(sources: number, trans: TranslationBundle): string {
  return sources
    ? trans.__('Waiting for the session to speak.')
    : trans.__('ethang_nb is loaded, but there is no session yet. Start one with a cell: %1, and the task below it.', START);
}
