/** An address as a chip; pressed, it shows what stands there, by pages of lines. */
import { useRef, useState } from 'preact/hooks';
import type { Asker } from '../channel';
import { line } from '../format';
import { Asked, useAsk } from './Asked';
import { Breakable } from './Breakable';
import { closing } from './keys';
import { Pages } from './Pages';

const LONGEST = 160; // ► characters of an address, as in views/limits.py

/** Without a living kernel an address is only a text. */
export function Address({ of, ask }: { of: string; ask: Asker }) {
  const read = useAsk<{ text: string }>(ask, 'read');
  const [open, show] = useState(false);
  const chip = useRef<HTMLButtonElement>(null);
  const text = line(of, LONGEST);
  const said = <Breakable text={text} />;
  if (!ask.live && !read.data) {
    return <code>{said}</code>;
  }
  const press = () => {
    show(!open);
    if (!open && !read.data) {
      read.go({ address: of });
    }
  };
  const close = () => {
    show(false);
    chip.current?.focus();
  };
  return (
    <span onKeyDown={closing(open, close)}>
      <button ref={chip} class="e-at" aria-expanded={open} title="read it here" onClick={press}>
        {said}
      </button>
      {open && (
        <span class="e-read">
          <Asked of={read} doing="reading" />
          {read.data && <Pages text={read.data.text} label={`Text at ${text}`} />}
        </span>
      )}
    </span>
  );
}
