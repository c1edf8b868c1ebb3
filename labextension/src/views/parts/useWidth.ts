/** The width of an element in ems of its own text, so that layouts hold at any zoom and any size of text. */
import type { RefObject } from 'preact';
import { useLayoutEffect, useState } from 'preact/hooks';

const USUAL = 60; // ► ems, until it was measured

export interface Width {
  em: number;
  /** Pixels of one em. */
  size: number;
}

export function useWidth(of: RefObject<Element | null>): Width {
  const [width, set] = useState<Width>({ em: USUAL, size: 13 });
  useResized(() => {
    const element = of.current;
    const size = element ? parseFloat(getComputedStyle(element).fontSize) : 0;
    const em = size && element!.clientWidth / size;
    // What is not shown has no width: it keeps the one it had.
    if (em) {
      set(old => (old.em === em && old.size === size ? old : { em, size }));
    }
  }, [of]);
  return width;
}

/** Calls `measure` now and when one of them changes its size; late too, when they are gone, as JupyterLab delays it. */
export function useResized(measure: () => void, of: readonly RefObject<Element | null>[]): void {
  useLayoutEffect(() => {
    measure();
    if (typeof ResizeObserver === 'undefined') {
      return;
    }
    const observer = new ResizeObserver(measure);
    of.forEach(({ current }) => observer.observe(current!));
    return () => observer.disconnect();
  }, []);
}
