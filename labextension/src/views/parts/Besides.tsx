/** What a context tells besides, a line each: the next cleanup with its acts, pins, notices. Opened one at a time. */
import type { ComponentChildren } from 'preact';
import { useId, useRef, useState } from 'preact/hooks';
import type { Pin } from '../doc';
import { count, line, opened, tokens } from '../format';
import type { ViewProps } from '../view';
import { Asked, useAsk } from './Asked';
import { Button } from './Button';
import { Dim } from './Dim';
import { Icon, type IconName } from './Icon';
import { closing, focus } from './keys';
import { LeftOut } from './LeftOut';
import { coming, due, lands, priced, reason } from './plan';
import { Stats } from './Stats';

export function Besides(props: ViewProps) {
  const { doc } = props;
  const { plan, pins, notices } = doc;
  const [open, show] = useState(-1);
  const own = useId();
  const next = lands(plan) ? due(doc) : plan.outcome === 'stuck' ? 'is stuck: nothing helps' : 'would change nothing';
  const told: [IconName, string, boolean, (props: ViewProps) => ComponentChildren][] = [
    [open ? 'down' : 'up', `${doc.budget.followed ? 'By its policy, the next' : 'Next'} cleanup ${next}`, true, Next],
    ['pin', count(pins.filter(pin => !pin.lifted).length, 'pin'), pins.length > 0, Pins],
    ['warn', count(notices.length + (doc.left_out?.notices ?? 0), 'notice'), notices.length > 0, Notices]
  ];
  const Open = told[open]?.[2] ? told[open][3] : null;
  const box = useRef<HTMLDivElement>(null);
  const close = () => {
    focus(box.current, '[aria-expanded=true]');
    show(-1);
  };
  return (
    <div ref={box} onKeyDown={closing(Boolean(Open), close)}>
      <div class="e-row e-chips">
        {told.map(
          ([icon, said, any], at) =>
            any && (
              <button
                class={at === 2 ? 'e-warn' : ''}
                aria-expanded={at === open}
                aria-controls={own}
                onClick={() => show(at === open ? -1 : at)}
              >
                <Icon name={icon} />
                <span>{said}</span>
              </button>
            )
        )}
      </div>
      <div id={own} class="e-side" tabIndex={-1} hidden={!Open}>
        {Open && <Open {...props} />}
      </div>
    </div>
  );
}

/** What the next cleanup would do, and the two acts that do not wait for it. */
function Next({ doc, status, ask }: ViewProps) {
  const { plan, budget, state } = doc;
  const running = state === 'running';
  const compact = useAsk(ask, 'compact');
  // A run that goes on keeps its context; what can be asked for then is that the next piece of work starts anew.
  const reseed = useAsk(ask, running ? 'cool' : 'reseed');
  const acts: [string, typeof compact, string][] = [
    [
      'Compact now',
      compact,
      lands(plan)
        ? `frees ${tokens(plan.before - plan.after)}${running ? ' at the next step' : ''}; what leaves stays in the record`
        : 'would change nothing now'
    ],
    [
      'Start from the core',
      reseed,
      `keeps the ${tokens(budget.fixed)} of fixed parts and core${running ? ' when the next piece of work begins' : ''}; ` +
        'the rest is read again where it is needed'
    ]
  ];
  // What an act said is of a context that the next act changes.
  const press = (act: typeof compact) => {
    acts.forEach(([, one]) => one.busy || one.clear());
    act.go();
  };
  return (
    <>
      <p>
        <b>{opened(coming(doc))}.</b> {reason(plan) && `${opened(reason(plan))}.`}
      </p>
      {plan.price && <Stats of={priced(plan.price)} />}
      {plan.digest && (
        <Dim>
          digest <code>{line(plan.digest, 80)}</code>
        </Dim>
      )}
      {status === 'live' &&
        state !== 'live' &&
        acts.map(([name, act, would]) => (
          <div key={name} class="e-row e-act">
            <Button busy={act.busy} onClick={() => press(act)}>
              {name}
            </Button>
            <small>{would}</small>
            <Asked of={act} />
          </div>
        ))}
    </>
  );
}

function Pins({ doc, status, ask }: ViewProps) {
  const unpin = useAsk(ask, 'unpin');
  return (
    <>
      <ul class="e-lines">
        {doc.pins.map(pin => (
          <li key={pin.id} class="e-apart">
            <span>
              {pin.lifted ? <s>{line(pin.text, 400)}</s> : line(pin.text, 400)}
              <small>
                {pin.kind}; {ruled(pin)}; {stands(pin)}
              </small>
            </span>
            {!pin.lifted && status === 'live' && (
              <Button
                tone="quiet"
                label={`Unpin: ${line(pin.text, 60)}`}
                busy={unpin.busy}
                onClick={() => unpin.go({ pin: pin.id })}
              >
                Unpin
              </Button>
            )}
          </li>
        ))}
      </ul>
      <LeftOut of={doc.left_out?.pins} what="pin" />
      <Asked of={unpin} />
    </>
  );
}

function ruled({ rule }: Pin): string {
  return rule === 'by hand' ? 'pinned by hand' : `found by the rule “${line(rule, 80)}”`;
}

/** Where the sentence stands now, or why it no longer holds. */
function stands({ lifted, core, segment }: Pin): string {
  return lifted
    ? `lifted: ${line(lifted, 80)}`
    : core
      ? 'in the core'
      : segment
        ? 'in its own message, which stays'
        : 'enters with the next request';
}

/** The newest first. */
function Notices({ doc: { notices, left_out } }: ViewProps) {
  return (
    <>
      <ul class="e-lines">
        {[...notices].reverse().map(notice => (
          <li>{line(notice, 400)}</li>
        ))}
      </ul>
      <LeftOut of={left_out?.notices} what="notice" />
    </>
  );
}
