/** Where did this text go? Every place that holds it or held it, what became of it, and where to read it again. */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Asker } from './channel';
import { grouped, line, opened } from './format';
import { Address } from './parts/Address';
import { Asked, useAsk } from './parts/Asked';
import { Breakable } from './parts/Breakable';
import { Button } from './parts/Button';
import { Dim } from './parts/Dim';
import { Search } from './parts/Form';
import { silent } from './parts/Standing';
import { happened, parted, type Place, type Traced, traced } from './parts/trace';
import type { ViewProps } from './view';

const PAUSE = 400; // ► milliseconds after which a text typed is looked for
const LEAST = 3; // ► characters from which a pause is enough; fewer need Enter
const MOST = 200; // ► places shown

export function Trace({ status, ask, options, go }: ViewProps) {
  const given = typeof options.text === 'string' ? options.text : '';
  const [text, type] = useState(given);
  const found = useAsk<Traced>(ask, 'trace');
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const no = silent(status);
  const look = (wanted: string) => {
    clearTimeout(timer.current);
    if (wanted.trim()) {
      found.go({ text: wanted });
    } else {
      found.clear();
    }
  };
  useEffect(() => {
    if (given && !no) {
      type(given);
      look(given);
    }
    return () => clearTimeout(timer.current);
  }, [given, no]);
  const input = (wanted: string) => {
    type(wanted);
    clearTimeout(timer.current);
    if (!wanted.trim()) {
      found.clear();
    } else if (wanted.trim().length >= LEAST) {
      timer.current = setTimeout(() => look(wanted), PAUSE);
    }
  };
  return (
    <section class="e-view e-trace" aria-label="Trace">
      <div class="e-row" role="search">
        <Search
          label="A name, a number, a sentence to trace"
          value={text}
          off={Boolean(no)}
          type={input}
          press={({ key }) => (key === 'Enter' ? look(text) : key === 'Escape' && input(''))}
        />
        <Button busy={Boolean(no)} onClick={() => look(text)}>
          Trace
        </Button>
      </div>
      {no && <Dim>Trace: {no}</Dim>}
      {!no && !found.data && !found.busy && !found.error && (
        <Dim>
          Shows every place that holds it or held it, how and when it left, and where it can be read again.
        </Dim>
      )}
      <Asked of={found} doing="looking" />
      {found.data && !found.error && <Found of={found.data} ask={ask} go={go} />}
    </section>
  );
}

function Found({ of, ask, go }: { of: Traced; ask: Asker; go: ViewProps['go'] }) {
  const groups = ['In the window', 'Left'].map(
    (name, left) => [name, of.places.filter(place => place.in_window !== Boolean(left))] as const
  );
  return (
    <>
      <p role="status">
        <b>{opened(traced(of))}.</b>
        {!of.places.length && <small> Case and spaces do not matter; every other character does.</small>}
      </p>
      {groups.map(([name, places]) =>
        places.length ? (
          <section key={name} aria-label={name}>
            <p class="e-h">
              {name} <small>{grouped(places.length)}</small>
            </p>
            <ul>
              {places.slice(0, MOST).map(place => (
                <OnePlace of={place} text={of.text} ask={ask} go={go} />
              ))}
            </ul>
            {places.length > MOST && <Dim>… {grouped(places.length - MOST)} more</Dim>}
          </section>
        ) : null
      )}
    </>
  );
}

function OnePlace({ of, text, ask, go }: { of: Place; text: string; ask: Asker; go: ViewProps['go'] }) {
  const told = happened(of);
  const title = <Breakable text={line(of.title, 120)} />;
  return (
    <li class={of.in_window ? 'e-place e-here' : 'e-place'}>
      <p>
        {of.segment && of.in_window && go ? (
          <button class="e-bare" onClick={() => go('segments', { segment: of.segment })}>
            {title}
          </button>
        ) : (
          <b>{title}</b>
        )}{' '}
        <small>{of.where === of.title ? '' : of.where}</small>
      </p>
      <p class="e-excerpt">
        {parted(line(of.excerpt, 400), text).map((part, at) => (at % 2 ? <mark>{part}</mark> : part))}
      </p>
      {(told || of.address) && (
        <Dim>
          {told && `${opened(told)}. `}
          {of.address && <Address of={of.address} ask={ask} />}
        </Dim>
      )}
    </li>
  );
}
