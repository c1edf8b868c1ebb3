/**
 * What if the window, the levels or the policy were others? The kernel replays the session, with no model call.
 *
 * Moving a control changes nothing but this picture; the call that gives the same numbers stands below it.
 */
import type { ComponentChildren } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
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
  changed,
  FIGURES,
  happenings,
  inOrder,
  type Known,
  points,
  type Run,
  type Setting,
  tick,
  TICKS,
  windowAt
} from './parts/whatif';
import type { ViewProps } from './view';

/** As `ethang_nb/views/session_replay.py` says it. */
const APART =
  'Not exactly what happened: releases by the model are not replayed, and a model’s note counts as what was ' +
  'reserved for it.';
const STANDS = 'as it stands';
const LEVELS: (keyof Levels)[] = ['nudge', 'cleanup', 'landing'];

export function WhatIf({ doc, status, ask, options }: ViewProps) {
  const [setting, set] = useState(() => given(options));
  const found = useAsk<Answered>(ask, 'whatif');
  const policies = useAsk<Known[]>(ask, 'policies');
  const base = useRef<Run | null>(null);
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
  if (run && !changed(found.asked!)) {
    base.current = run;
  }
  const standing = setting.second === undefined;
  const other = standing ? (changed(setting) ? base.current : null) : found.data?.b;
  const more = doc.step - at.current;
  return (
    <section class="e-view e-whatif" aria-label="What if">
      {no && <Dim>What if: {no}</Dim>}
      <Controls
        {...{ setting, move, off: Boolean(no) }}
        window={setting.window ?? doc.window.total}
        levels={setting.levels ?? run?.levels ?? doc.levels}
        policy={setting.policy ?? doc.policy}
        known={policies.data ?? []}
      />
      {(found.error || !run) && <Asked of={found} doing="replaying" />}
      {run?.fills.length ? <Result run={run} other={other ?? null} standing={standing} /> : null}
      {run && !run.fills.length && <p>Nothing to replay yet: no step was taken.</p>}
      <div class="e-row e-dim">
        <span>{APART}</span>
        {more > 0 && run && !no && (
          <Button tone="quiet" onClick={again}>
            Replay again, {count(more, 'step')} later
          </Button>
        )}
      </div>
      <p class="e-row">
        <small>The same numbers in Python</small> <code>{call(doc, setting)}</code>
        <Copy text={() => call(doc, setting)} />
      </p>
    </section>
  );
}

/** What Python said to begin with. */
function given({ window, levels, policy }: Record<string, unknown>): Setting {
  const [nudge, cleanup, landing] = (levels ?? []) as number[];
  return { window, levels: levels && { nudge, cleanup, landing }, policy } as Setting;
}

interface ControlsProps {
  setting: Setting;
  move: (change: Partial<Setting>) => void;
  window: number;
  levels: Levels;
  policy: string;
  known: Known[];
  off: boolean;
}

function Controls({ setting, move, window, levels, policy, known, off }: ControlsProps) {
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
            type="number"
            aria-label="Window in tokens"
            min={1}
            value={window}
            onChange={event => {
              const typed = Math.round(event.currentTarget.valueAsNumber);
              move({ window: typed > 0 ? typed : undefined });
            }}
          />
          <small>tokens</small>
        </div>,
        <div class="e-line">
          <Slider
            label="Window, from 1,000 to 1,000,000 tokens"
            said={tokens(window)}
            value={tick(window)}
            min={0}
            max={TICKS}
            move={place => move({ window: windowAt(place) })}
          />
        </div>,
        <div class="e-apart e-dim" aria-hidden="true">
          <span>1,000</span>
          <span>1,000,000</span>
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
      <Curves
        of={curves}
        levels={run.levels}
        said={`Fill of ${count(run.fills.length, 'step')}: ${names.join('; ')}. The table below has the figures.`}
      />
      {marked.length > 0 && <Legend of={marked} />}
      <Table name="e-runs" columns={[head, ...FIGURES]} rows={runs} />
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
