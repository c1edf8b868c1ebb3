/** A closed box that draws what is in it once it is opened. Esc closes it and goes back to its head. */
import type { ComponentChildren } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { closing, focus } from './keys';

export function Folded({ head, children }: { head: ComponentChildren; children: () => ComponentChildren }) {
  const [shown, show] = useState(false);
  const box = useRef<HTMLDetailsElement>(null);
  const close = () => {
    show(false);
    focus(box.current, 'summary');
  };
  return (
    <details
      ref={box}
      open={shown}
      onToggle={event => event.target === box.current && show(box.current!.open)}
      onKeyDown={closing(shown, close)}
    >
      <summary>{head}</summary>
      {shown && children()}
    </details>
  );
}
