/**
 * A whole context: who, how full, what comes next, and every other view on tabs.
 *
 * It names no view: the first of the registry stands above the tabs, the rest on them.
 */
import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { Silent } from './channel';
import { grouped, line } from './format';
import { Besides } from './parts/Besides';
import { Boundary } from './parts/Boundary';
import { Button } from './parts/Button';
import { Now } from './parts/Now';
import { Standing } from './parts/Standing';
import { Tabs } from './parts/Tabs';
import { VIEWS } from './registry';
import type { View, ViewProps } from './view';

const PATIENCE = 1_000; // ► milliseconds a person waits for Stop before ■ is named
const SILENT = 'The kernel does not answer while the cell runs here: press ■ (interrupt the kernel).';

export function ContextView(props: ViewProps) {
  const { doc, status, options } = props;
  const [top, ...rest] = VIEWS as [View, ...View[]];
  const known = (id: unknown) => rest.find(view => view.id === id)?.id;
  const [at, pick] = useState(known(options.tab) ?? rest[0]?.id ?? '');
  const [led, lead] = useState<Record<string, Record<string, unknown>>>({});
  useEffect(() => {
    const tab = known(options.tab);
    if (tab) {
      pick(tab);
    }
  }, [options.tab]);
  const go = (view: string, more: Record<string, unknown>) => {
    if (known(view)) {
      lead(was => ({ ...was, [view]: more }));
      pick(view);
    }
  };
  const shared = { ...props, go };
  return (
    <article class={`e-view e-is-${status}`} aria-label={`Context of ${line(doc.name, 60)}`}>
      <Head {...props} />
      <Standing status={status} />
      <Now {...props} />
      <div class="e-view e-figures">
        <Boundary title={top.title}>
          <top.draw {...shared} />
        </Boundary>
        <Besides {...props} />
        <Tabs label="Views" tabs={rest} at={at} pick={pick}>
          <Kept views={rest} at={at}>
            {view => (
              <Boundary title={view.title}>
                <view.draw {...shared} options={led[view.id] ?? options} />
              </Boundary>
            )}
          </Kept>
        </Tabs>
      </div>
    </article>
  );
}

interface KeptProps {
  views: readonly View[];
  at: string;
  children: (view: View) => ComponentChildren;
}

/** Views that were looked at stay as they were left, search and scroll included; only the one shown is drawn again. */
function Kept({ views, at, children }: KeptProps) {
  const [seen, see] = useState<readonly string[]>([at]);
  if (!seen.includes(at)) {
    see([...seen, at]);
  }
  return views
    .filter(view => view.id === at || seen.includes(view.id))
    .map(view => (
      <div key={view.id} hidden={view.id !== at}>
        <Still moves={view.id === at}>{children(view)}</Still>
      </div>
    ));
}

/** What is drawn anew only while it `moves`: the same element as before is passed over. */
function Still({ moves, children }: { moves: boolean; children: ComponentChildren }) {
  const last = useRef(children);
  if (moves) {
    last.current = children;
  }
  return last.current;
}

const TONES: Record<string, string> = { running: 'ok', completed: 'ok', idle: 'plain', live: 'plain' };
const PAST = { ended: 'closed', lost: 'last told', saved: 'saved' };

/** Who, under which settings, in what state; and Stop while it runs. */
function Head({ doc, status, ask }: ViewProps) {
  const [said, say] = useState('');
  const past = PAST[status as keyof typeof PAST];
  const running = doc.state === 'running' && status === 'live';
  const press = () => {
    say('');
    ask.ask('stop', {}, PATIENCE).then(
      ({ done }: { done: string }) => say(done),
      (why: Error) => say(why instanceof Silent ? SILENT : why.message)
    );
  };
  useEffect(() => {
    if (!running) {
      say('');
    }
  }, [running]);
  const where = `step ${grouped(doc.step)}`;
  return (
    <header class="e-apart e-head">
      <p class="e-row">
        <strong class="e-big">{line(doc.name, 60)}</strong>
        <small>
          {[line(doc.model_label || doc.model, 100), `policy ${line(doc.policy, 40)}`].filter(Boolean).join(' · ')} ·
          window {grouped(doc.window.total)} ({line(doc.window.source, 60)})
        </small>
      </p>
      <p class="e-row">
        <span class={`e-pill e-${past ? (status === 'lost' ? 'stop' : 'plain') : (TONES[doc.state] ?? 'stop')}`}>
          {past ? `${past} at ${where}` : `${where}, ${line(doc.state, 60)}`}
        </span>
        {running && (
          <Button tone="stop" onClick={press}>
            Stop
          </Button>
        )}
      </p>
      <p class="e-result e-stop" role="status">
        {line(said, 300)}
      </p>
    </header>
  );
}
