/** Whether somebody led here since the last drawing: `options` are new. What a reader chose after that is theirs. */
import { useRef } from 'preact/hooks';

/** `options` are null as long as there is nothing to lead to. */
export function useLed(options: object | null): boolean {
  const last = useRef<object | null>(null);
  const led = last.current !== options;
  last.current = options;
  return led;
}
