/** A long text by pages of lines, long lines folded, with its size and a way to copy all of it. */
import { useState } from 'preact/hooks';
import { clip, count, grouped, visible } from '../format';
import { Button, Copy } from './Button';

const PAGE = 100; // ► lines of one page
const LONG = 600; // ► characters of a line that are shown before it is unfolded

interface PagesProps {
  text: string;
  label: string;
}

export function Pages({ text, label }: PagesProps) {
  const [page, turn] = useState(0);
  const lines = text.split('\n');
  const last = Math.ceil(lines.length / PAGE) - 1;
  const from = Math.min(page, last) * PAGE;
  const shown = lines.slice(from, from + PAGE);
  return (
    <>
      <pre tabIndex={0} role="region" aria-label={label}>
        {shown.map((line, at) => (
          <Line key={`${text.length} ${from + at}`} text={line} />
        ))}
      </pre>
      <span class="e-row">
        <small>
          {last > 0 ? `lines ${grouped(from + 1)}–${grouped(from + shown.length)} of ` : ''}
          {count(lines.length, 'line')}
        </small>
        <Turn page={page} last={last} turn={turn} />
        <Copy text={text} />
      </span>
    </>
  );
}

function Line({ text }: { text: string }) {
  const [open, show] = useState(text.length <= LONG);
  if (open) {
    return `${visible(text)}\n`;
  }
  const start = clip(text, LONG);
  return (
    <>
      {visible(start)}{' '}
      <Button tone="quiet" onClick={() => show(true)}>
        {count(text.length - start.length + 1, 'more character')}
      </Button>
      {'\n'}
    </>
  );
}

/** Back and on between pages 0 to `last`; nothing where there is one page. */
export function Turn({ page, last, turn }: { page: number; last: number; turn: (page: number) => void }) {
  const to = (name: string, next: number) => (
    <Button tone="quiet" busy={next < 0 || next > last} onClick={() => turn(next)}>
      {name}
    </Button>
  );
  return last > 0 ? (
    <>
      {to('Back', page - 1)}
      {to('Next', page + 1)}
    </>
  ) : null;
}
