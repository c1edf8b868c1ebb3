/** A paragraph said quietly. */
import type { ComponentChildren } from 'preact';

export function Dim({ children }: { children?: ComponentChildren }) {
  return <p class="e-dim">{children}</p>;
}
