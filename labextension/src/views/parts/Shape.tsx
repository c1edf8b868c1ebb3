/** The marks of what happens: each kind has a shape of its own, so that none needs its colour to be told. */
import { type Kind, said } from './timeline';

/** Around 0 0. What has no area is drawn as a line. */
const SHAPES: Record<Kind, string> = {
  stuck: 'M-4-4 4 4M4-4-4 4',
  over: 'M0-5 5.5 4.5h-11z',
  reseed: 'M0-4A4 4 0 1 0 .01-4M-.5-.5h1v1h-1z',
  forced: 'M0-6 6 0 0 6-6 0zM-2 0h4M0-2v4',
  cleanup: 'M0-5.5 5.5 0 0 5.5-5.5 0z',
  foretold: 'M0-5.5 5.5 0 0 5.5-5.5 0z',
  shrink: 'M-4-2h8v4h-8z',
  idle: 'M-5 0H5',
  intake: 'M-4-4h8v8h-8z',
  release: 'M0-4.5 5 4h-10z',
  nudge: 'M0 5-5.5-4.5h11z',
  regret: 'M-4.5-1A4.5 4.5 0 1 1-3 3M-5-5v4h4'
};

export function Shape({ kind }: { kind: Kind }) {
  return <path class={`e-shape e-k-${kind}`} d={SHAPES[kind]} />;
}

/** Each kind with its word, and what is said of it. */
export function Legend({ of }: { of: readonly (readonly [Kind, string?])[] }) {
  return (
    <ul class="e-row e-key">
      {of.map(([kind, more]) => (
        <li key={kind}>
          <svg viewBox="-7 -7 14 14" aria-hidden="true">
            <Shape kind={kind} />
          </svg>
          <span>
            {said(kind)}
            {more}
          </span>
        </li>
      ))}
    </ul>
  );
}
