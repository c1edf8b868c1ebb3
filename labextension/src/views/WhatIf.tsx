/**
 * What if the window, the levels or the policy were others? The kernel replays the session, with no model call.
 *
 * Moving a control changes nothing but this picture; the call that gives the same numbers stands below it.
 */
import type { ComponentChildren } from 'preact';
import { useEffect, useId, useMemo, useRef, useState } from 'preact/hooks';
import type { Levels } from './doc';
import { count, grouped, line, percent, tokens } from './format';
import { Asked, useAsk } from './parts/Asked';
import { Button, Copy } from './parts/Button';
import { Curves } from './parts/Curves';
import { Dim } from './parts/Dim';
import { Folded } from './parts/Folded';
import { Options, Select, Slider } from './parts/Form';
import { Legend } from './parts/Shape';
import { silent } from './parts/Standing';
import { type Column, Paged, Table } from './parts/Table';
import { happened } from './parts/timeline';
import {
  type Answered,
  args,
  call,
  type Asked as Args,
  changed,
  FIGURES,
  happenings,
  inOrder,
  type Known,
  noWindow,
  points,
  type Run,
  type Setting,
  tick,
  TICKS,
  windowAt,
  windowOf
} from './parts/whatif';
import type { ViewProps } from './view';

/** As `ethang_nb/views/session_replay.py` says it. */
const APART =
  'Not exactly what happened: the context as it stands counts as one more request, releases by the model are not ' +
  'replayed, and a model’s note counts as what was reserved for it.';
const STANDS = 'as it stands';
const LEVELS: (keyof Levels)[] = ['nudge', 'cleanup', 'landing'];

export function WhatIf({ doc, status, ask, options }: ViewProps) {
  const [setting, set] = useState(() => given(options));
  const found = useAsk<Answered>(ask, 'whatif');
  const policies = useAsk<Known[]>(ask, 'policies');
  const base = useRef<Run | undefined>(undefined);
  const at = useRef(doc.step);
  const no = silent(status);

  const replay = (next: Setting) => {
    at.current = doc.step;
    found.go(args(next));
  };
  const move = (change: Partial<Setting>) => {
    const next = { ...setting, ...change };
    set(next);
    replay(next);
  };
  const again = () => {
    replay({});
    replay(setting);
  };
  useEffect(() => {
    if (!no) {
      policies.go();
      again();
    }
  }, [no]);

  const run = found.data?.a;
  const moved = run && changed(found.asked!);
  if (!moved) {
    base.current = run;
  }
  const standing = setting.second === undefined;
  const other = standing ? moved && base.current : found.data?.b;
  const more = doc.step - at.current;
  const python = run && call(doc, found.asked as Args);
  return (
    <section class="e-view e-whatif" aria-label="What if">
      {no && <Dim>What if: {no}</Dim>}
      <Controls
        {...{ setting, move, off: Boolean(no) }}
        refused={Boolean(found.error && setting.window && setting.window !== run?.window)}
        window={setting.window ?? doc.window.total}
        levels={setting.levels ?? run?.levels ?? doc.levels}
        policy={setting.policy ?? doc.policy}
        known={policies.data ?? []}
      />
      {(found.error || !run) && <Asked of={found} doing="replaying" />}
      {run?.fills.length ? <Result run={run} other={other || null} standing={standing} /> : null}
      {run && !run.fills.length && <p>Nothing to replay yet: no step was taken.</p>}
      <div class="e-row e-dim">
        <span>{APART}</span>
        {more > 0 && run && !no && (
          <Button tone="quiet" onClick={again}>
            Replay again, {count(more, 'step')} later
          </Button>
        )}
      </div>
      {python && (
        <p class="e-row">
          <small>The same numbers in Python</small> <code>{python}</code>
          <Copy text={python} />
        </p>
      )}
    </section>
  );
}

/** What Python said to begin with. */
function given({ window, levels, policy, second }: Record<string, unknown>): Setting {
  const [nudge, cleanup, landing] = (levels ?? []) as number[];
  return { window, levels: levels && { nudge, cleanup, landing }, policy, second } as Setting;
}

interface ControlsProps {
  setting: Setting;
  move: (change: Partial<Setting>) => void;
  /** Whether the kernel refused the window. */
  refused: boolean;
  window: number;
  levels: Levels;
  policy: string;
  known: Known[];
  off: boolean;
}

function Controls({ setting, move, refused, window, levels, policy, known, off }: ControlsProps) {
  /** What stands in the field while it is not the window, and whether it was entered. */
  const [[typed, entered], type] = useState<[string?, boolean?]>([]);
  const own = useId();
  useEffect(() => type([]), [window]);
  const names = known.map(({ name }) => name);
  const short = known.find(({ name }) => name === policy)?.short;
  const group = (legend: ComponentChildren, ...controls: ComponentChildren[]) => (
    <fieldset disabled={off}>
      <legend>{legend}</legend>
      {controls}
    </fieldset>
  );
  return (
    <div class="e-cols e-controls">
      {group(
        'Window',
        <div class="e-line">
          <input
            class="e-n"
            inputMode="numeric"
            aria-label="Window in tokens"
            aria-invalid={entered || refused}
            aria-describedby={own}
            value={typed ?? window}
            onInput={event => type([event.currentTarget.value])}
            onChange={event => {
              const typed = event.currentTarget.value.trim();
              const size = windowOf(typed);
              type(size ? [] : [typed, true]);
              if (size) {
                move({ window: size });
              }
            }}
          />
          <small>tokens</small>
        </div>,
        <p id={own} class="e-stop" role="alert">
          {entered && noWindow(typed!)}
        </p>,
        <div class="e-line">
          <Slider
            label="Window in tokens"
            said={tokens(window)}
            value={tick(window)}
            min={0}
            max={TICKS}
            move={place => move({ window: windowAt(place) })}
          />
        </div>,
        <div class="e-apart e-dim">
          <span>1,000</span>
          <span>10,000,000</span>
        </div>
      )}
      {group(
        <>
          Levels{' '}
          {setting.levels ? (
            <Button tone="quiet" onClick={() => move({ levels: undefined })}>
              by the band
            </Button>
          ) : (
            <small>by the band</small>
          )}
        </>,
        LEVELS.map(name => (
          <div class="e-line" key={name}>
            <small>{name}</small>
            <Slider
              label={`${name} level`}
              said={percent(levels[name])}
              value={levels[name]}
              min={1}
              max={1000}
              move={value => move({ levels: inOrder(levels, name, value) })}
            />
            <output>{percent(levels[name])}</output>
          </div>
        ))
      )}
      {group(
        'Policy',
        <div class="e-line">
          <Select label="Policy" value={policy} pick={name => move({ policy: name })}>
            <Options of={names.includes(policy) ? names : [policy, ...names]} />
          </Select>
        </div>,
        <div class="e-line">
          <small>beside it</small>
          <Select
            label="Beside it"
            value={setting.second ?? STANDS}
            pick={name => move({ second: name === STANDS ? undefined : name })}
          >
            <option>{STANDS}</option>
            <option value="">nothing</option>
            <Options of={names} />
          </Select>
        </div>,
        <Dim>{line(short ?? '', 200)}</Dim>
      )}
    </div>
  );
}

interface ResultProps {
  run: Run;
  other: Run | null;
  /** Whether the other is the setting as it stands. */
  standing: boolean;
}

/** The curves, the table, and every step behind a disclosure. */
function Result({ run, other, standing }: ResultProps) {
  const runs = useMemo(() => (other?.fills.length ? [run, other] : [run]), [run, other]);
  const [curves, marked] = useMemo(() => {
    const curves = runs.map(points);
    return [curves, happened(curves.flat()).map(([kind]) => [kind] as const)];
  }, [runs]);
  const names = runs.map((one, at) => `${line(one.policy, 40)}${at && standing ? ', as it stands' : ''}`);
  const shown = `Shown: ${names[0]}, window ${grouped(run.window)}, ${LEVELS.map(name => `${name} ${percent(run.levels[name])}`).join(', ')}`;
  const head: Column<Run> = [
    'policy',
    (_, at) => (
      <>
        <i class={`e-sample e-of-${at}`} aria-hidden="true" /> {names[at]}
      </>
    )
  ];
  return (
    <>
      <Dim>{shown}</Dim>
      <Curves
        of={curves}
        levels={run.levels}
        said={`Fill of ${count(run.fills.length, 'step')}: ${names.join('; ')}; the table below has its numbers`}
      />
      {marked.length > 0 && <Legend of={marked} />}
      <Table name="e-runs" caption={shown} columns={[head, ...FIGURES]} rows={runs} />
      <Folded head={`Every step, ${grouped(run.fills.length)}`}>{() => <Steps runs={runs} names={names} />}</Folded>
    </>
  );
}

function Steps({ runs, names }: { runs: Run[]; names: string[] }) {
  const told = useMemo(() => runs.map(happenings), [runs]);
  const steps = useMemo(() => runs[0]!.fills.map((_, at) => at + 1), [runs]);
  const columns: Column<number>[] = runs.map(({ fills }, one) => [
    names[one]!,
    step => (
      <>
        {percent(fills[step - 1] ?? 0)} <small>{told[one]!.get(step)}</small>
      </>
    )
  ]);
  return <Paged columns={[['step', grouped, 'e-n'], ...columns]} rows={steps} label="Every step" noun="step" />;
}
