/** A segment opened: its text, why it stays or leaves, and what a person can do about it. */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Asker } from '../channel';
import type { Doc, Segment } from '../doc';
import { count, grouped, line, tokens, visible } from '../format';
import type { Status } from '../store';
import { Address } from './Address';
import { Asked, useAsk } from './Asked';
import { Button } from './Button';
import { Dim } from './Dim';
import { Options, Select } from './Form';
import { Icon } from './Icon';
import { closing } from './keys';
import { LeftOut } from './LeftOut';
import { Pages } from './Pages';
import { allowed, kindWord, leaves, reasons, source, trust } from './segments';
import { silent } from './Standing';

const SHORT = 1_500; // ► characters of a part that is shown at once
const SENTENCE = 'Sentence to pin: select it or type it';
const WHOLE = 300; // ► characters of a segment that may be pinned without choosing a sentence of it

interface Read {
  title: string;
  address: string;
  parts: { role: string; text: string; name?: string }[];
  cut: number;
}

interface OpenedProps {
  id: string;
  doc: Doc;
  status: Status;
  ask: Asker;
  close: () => void;
}

export function OpenedSegment({ id, doc, status, ask, close }: OpenedProps) {
  const here = doc.segments.find(segment => segment.id === id);
  const last = useRef<Segment | undefined>(undefined);
  last.current = here ?? last.current;
  const segment = last.current;
  const read = useAsk<Read>(ask, 'segment');
  const text = useRef<HTMLDivElement>(null);
  // Read again where its form changed, as from a result to one line.
  useEffect(() => void (here && read.go({ segment: id })), [id, here?.tokens]);
  if (!segment) {
    return null;
  }
  return (
    <section class="e-side e-view e-open" tabIndex={-1} aria-label="Opened segment" onKeyDown={closing(true, close)}>
      <div class="e-apart">
        <b>{line(segment.title, 300)}</b>
        <Button tone="quiet" label="Close" onClick={close}>
          <Icon name="close" />
        </Button>
      </div>
      {!here && <p class="e-warn">It has left the window; this is how it stood there last.</p>}
      <Why of={segment} />
      {segment.address && (
        <p>
          <small>read again at </small>
          <Address of={segment.address} ask={ask} />
        </p>
      )}
      <div class="e-scroll" ref={text}>
        <Asked of={read} doing="reading" />
        {read.data?.parts.map(part => (
          <Part {...part} />
        ))}
        {read.data?.cut ? (
          <Dim>
            {count(read.data.cut, 'more character')} {doc.state === 'live' ? 'left out here' : 'in the record'}
          </Dim>
        ) : null}
        {!ask.live && <LeftOut of={doc.left_out?.texts} what="text" />}
      </div>
      <Pinning of={segment} read={read.data} text={text} status={status} ask={ask} />
    </section>
  );
}

/** What the next cleanup does to it. */
export function Verdict({ of }: { of: Segment }) {
  return <span class={leaves(of) ? 'e-v e-warn' : 'e-dim'}>{line(of.verdict, 24) || 'stays'}</span>;
}

function Why({ of }: { of: Segment }) {
  const said = reasons(of);
  const facts = [
    kindWord(of.kind),
    [source(of), trust(of)].filter(Boolean).join(', '),
    tokens(of.tokens),
    of.step === null ? '' : of.step ? `came after step ${grouped(of.step)}` : 'came before step 1',
    `retention ${of.retention}`,
    of.incomplete ? 'incomplete' : ''
  ];
  return (
    <>
      <Dim>{facts.filter(Boolean).join(' · ')}</Dim>
      <p>
        <small>next cleanup </small>
        <Verdict of={of} />
        {`; ${allowed(of)}${said ? `: ${said}` : ''}`}
      </p>
    </>
  );
}

function Part({ role, text, name }: Read['parts'][number]) {
  const said = [role, name].filter(Boolean).join(', ');
  return (
    <div class="e-block e-part">
      <Dim>{line(said, 80)}</Dim>
      {text.length > SHORT ? <Pages text={text} label={line(said, 80)} /> : <pre>{visible(text)}</pre>}
    </div>
  );
}

interface PinningProps {
  of: Segment;
  read: Read | null;
  text: { current: HTMLElement | null };
  status: Status;
  ask: Asker;
}

/** Pins by hand what is typed, or selected of the text, or the whole where it is short; lifts the pin it carries. */
function Pinning({ of, read, text, status, ask }: PinningProps) {
  const pin = useAsk(ask, 'pin');
  const unpin = useAsk(ask, 'unpin');
  const [kind, choose] = useState('constraint');
  /** What is typed or selected, null for neither. */
  const [own, write] = useState<string | null>(null);
  useSelected(text, write);
  const no = silent(status);
  if (no) {
    return <Dim>Pin or unpin: {no}</Dim>;
  }
  // What is kept word for word already needs no pin.
  const whole = read && of.pin === null && of.step !== null && of.kind !== 'pin' ? short(read) : '';
  const what = own ?? whole;
  const lift = () => {
    pin.clear();
    unpin.go({ pin: of.pin });
  };
  return (
    <>
      <div class="e-row">
        {of.pin !== null && (
          <Button busy={unpin.busy} onClick={lift}>
            Unpin
          </Button>
        )}
        <input
          class="e-grow"
          aria-label={SENTENCE}
          placeholder={SENTENCE}
          value={own ?? visible(whole)}
          onInput={event => write(event.currentTarget.value)}
        />
        <Select label="Kind of pin" value={kind} pick={choose}>
          <Options of={['constraint', 'decision']} />
        </Select>
        <Button busy={!what.trim() || pin.busy} onClick={() => pin.go({ text: what, kind })}>
          Pin
        </Button>
      </div>
      <Asked of={pin.data || pin.error || pin.busy ? pin : unpin} />
    </>
  );
}

/** The text where it is one and short, "" else. */
function short({ parts, cut }: Read): string {
  const only = parts.length === 1 && !cut ? parts[0]!.text.replace(/\s+/g, ' ').trim() : '';
  return only.length <= WHOLE ? only : '';
}

/** Tells `pick` what a person selects inside of `el`, on one line: it still counts while they choose a kind and press. */
function useSelected(el: { current: HTMLElement | null }, pick: (text: string | null) => void): void {
  useEffect(() => {
    let last = '';
    const look = () => {
      // In a shadow tree, as of marimo, the document sees no selection.
      const root = el.current?.getRootNode() as { getSelection?(): Selection | null } | undefined;
      const found = root?.getSelection?.() ?? document.getSelection();
      const said = String(found).replace(/\s+/g, ' ').trim();
      // The same again takes nothing back that was typed since.
      if (found && el.current?.contains(found.anchorNode) && said !== last) {
        pick((last = said) || null);
      }
    };
    document.addEventListener('selectionchange', look);
    return () => document.removeEventListener('selectionchange', look);
  }, []);
}
