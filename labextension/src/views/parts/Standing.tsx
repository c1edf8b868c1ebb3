/** Whether what is shown is live; where it is not, in one sentence why. */
import type { Status } from '../store';

const SENTENCES: Record<Status, string> = {
  waiting: 'The view appears when the kernel speaks.',
  live: '',
  ended: 'The session is closed: these numbers are its last.',
  lost: 'The kernel was restarted or is out of reach: these numbers are the last it told.',
  saved: 'A saved view: these numbers are of the moment it was saved. Run the notebook to go on from here.'
};

export function Standing({ status }: { status: Status }) {
  const said = SENTENCES[status];
  // The region stands there before it speaks, or a screen reader would not hear it.
  return (
    <p class="e-standing" role="status" hidden={!said}>
      {said}
    </p>
  );
}

/** Why something cannot be asked for here, "" where it can. */
export function silent(status: Status): string {
  return status === 'live' ? '' : 'This needs the kernel: run the notebook again.';
}
