/** What a run does right now: the end of what the model is saying, why nothing comes, or which tools are at work. */
import { useRef } from 'preact/hooks';
import { line, visible } from '../format';
import type { ViewProps } from '../view';

/**
 * It stands there as long as the run goes on, and keeps the room for a text once there was one, so that what is below
 * it stays where it is. Screen readers find it, and are not told of every word.
 */
export function Now({ doc, status }: ViewProps) {
  const roomy = useRef(false);
  if (doc.state !== 'running' || status !== 'live') {
    roomy.current = false;
    return null;
  }
  const { saying, waiting } = doc;
  roomy.current ||= Boolean(saying);
  // A nudge may stand behind the calls that are open.
  const open = doc.segments.slice(-3).find(segment => segment.incomplete);
  const head = saying
    ? 'the model is saying'
    : waiting
      ? 'waiting'
      : open
        ? `tools at work: ${line(open.title, 80)}`
        : 'the model was asked; nothing has come yet';
  return (
    <div class={`e-side e-now${roomy.current ? ' e-roomy' : ''}`}>
      <small>{head}</small>
      {(saying || waiting || roomy.current) && (
        <p class={waiting && !saying ? 'e-warn' : ''}>
          <span>{saying ? visible(saying) : line(waiting ?? '', 300)}</span>
        </p>
      )}
    </div>
  );
}
