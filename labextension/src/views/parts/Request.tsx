/** A past request exactly as it was sent, or with its JSON indented for reading. */
import { useEffect, useMemo, useState } from 'preact/hooks';
import type { Asker } from '../channel';
import { count, grouped, line } from '../format';
import { Asked, useAsk } from './Asked';
import { Button } from './Button';
import { Icon } from './Icon';
import { closing } from './keys';
import { Pages } from './Pages';

interface Sent {
  step: number;
  text: string;
  how: string;
}

interface RequestProps {
  step: number;
  ask: Asker;
  close: () => void;
}

export function Request({ step, ask, close }: RequestProps) {
  const read = useAsk<Sent>(ask, 'request');
  const [pretty, indent] = useState(false);
  useEffect(() => read.go({ step }), [step]);
  const sent = read.data?.step === step ? read.data : null;
  const text = sent?.text ?? '';
  const laid = useMemo(() => indented(text), [text]);
  const name = `Request of step ${grouped(step)}`;
  return (
    <section class="e-side e-view e-open e-request" tabIndex={-1} aria-label={name} onKeyDown={closing(true, close)}>
      <div class="e-row">
        <b>{name}</b>
        <span class="e-dim e-grow">{sent && `${line(sent.how, 40)}, ${sized(text)}`}</span>
        {laid && (
          <Button pressed={pretty} onClick={() => indent(!pretty)}>
            Indented
          </Button>
        )}
        <Button tone="quiet" label="Close the request" onClick={close}>
          <Icon name="close" />
        </Button>
      </div>
      <Asked of={read} doing="reading" />
      {sent && <Pages key={String(pretty)} text={pretty && laid ? laid : text} label={`Text of the ${name}`} />}
    </section>
  );
}

/** Bytes as UTF-8 and characters: "24,012 bytes, 23,998 characters". */
export function sized(text: string): string {
  const bytes = new TextEncoder().encode(text).length;
  return `${count(bytes, 'byte')}, ${count([...text].length, 'character')}`;
}

/** The JSON with one value a line; "" where it is none. */
export function indented(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return '';
  }
}
