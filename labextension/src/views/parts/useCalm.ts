/** A text for a live region: it changes at most once in `pause` milliseconds, and ends with the last one. */
import { useEffect, useRef, useState } from 'preact/hooks';

const PAUSE = 2_000; // ► milliseconds; a screen reader reads a fill in one or two

export function useCalm(text: string, pause = PAUSE): string {
  const [said, say] = useState(text);
  const newest = useRef(text);
  newest.current = text;
  useEffect(() => {
    if (text === said) {
      return;
    }
    // Not begun anew by every text: else nothing would be said while a run goes fast.
    const timer = setTimeout(() => say(newest.current), pause);
    return () => clearTimeout(timer);
  }, [text === said, said, pause]);
  return said;
}
