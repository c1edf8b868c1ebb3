/** Timeline: fill per request, what happened before it was sent, and any request exactly as it was sent. */
import { useMemo, useRef, useState } from 'preact/hooks';
import type { StepRow } from './doc';
import { grouped, numbered, percent } from './format';
import { Button } from './parts/Button';
import { Columns, PARTS } from './parts/Columns';
import { Dim } from './parts/Dim';
import { Folded } from './parts/Folded';
import { focus } from './parts/keys';
import { LeftOut } from './parts/LeftOut';
import { Plot } from './parts/Plot';
import { Request } from './parts/Request';
import { Legend } from './parts/Shape';
import { silent } from './parts/Standing';
import { Stats } from './parts/Stats';
import { type Column, Paged } from './parts/Table';
import { happened, what } from './parts/timeline';
import { useLed } from './parts/useLed';
import type { ViewProps } from './view';

const MOST = 8; // ► steps of one kind that are named in the legend

const NUMBERS: Column<StepRow>[] = (['fixed', 'task', 'history', 'output', 'headroom'] as const).map(name => [
  name,
  row => grouped(row[name]),
  'e-n e-dim'
]);
const TABLE: Column<StepRow>[] = [
  ['step', row => grouped(row.step), 'e-n'],
  ['fill', row => percent(row.fill), 'e-n'],
  ['tokens', row => grouped(row.tokens), 'e-n'],
  ['before it was sent', what],
  ...NUMBERS
];

export function Timeline({ doc, status, ask, options, go }: ViewProps) {
  const rows = doc.timeline;
  const [cursor, move] = useState<number | null>(null);
  const [opened, open] = useState<number | null>(null);
  const box = useRef<HTMLElement>(null);
  const no = silent(status);
  const index = (step: unknown) => rows.findIndex(row => row.step === step);
  const wanted = useLed(rows.length ? options : null) ? index(options.step) : -1;
  if (wanted >= 0) {
    move(wanted);
    open(no ? null : rows[wanted]!.step);
  }
  if (!rows.length) {
    return (
      <section class="e-timeline" aria-label="Timeline">
        <Plot levels={doc.levels} series={NOTHING} draw={() => null}>
          {() => <p class="e-blank">No request has been made yet: each will stand here with its fill.</p>}
        </Plot>
      </section>
    );
  }
  const at = Math.min(cursor ?? rows.length - 1, rows.length - 1);
  const here = rows[at]!;
  const close = () => {
    open(null);
    focus(box.current, '[role=slider]');
  };
  return (
    <section class="e-view e-timeline" aria-label="Timeline" ref={box}>
      <Columns
        rows={rows}
        levels={doc.levels}
        at={at}
        chosen={cursor !== null}
        // What is opened stays pointed at when the pointer leaves.
        move={to => move(to ?? (opened === null ? null : index(opened)))}
        open={no ? undefined : () => open(here.step)}
      />
      <Readout row={here} newest={cursor === null} go={doc.diffs.some(diff => diff.step === here.step) ? go : undefined} />
      <Happened rows={rows} />
      {opened !== null ? (
        <Request step={opened} ask={ask} close={close} />
      ) : (
        <Dim>
          {no
            ? `The requests themselves: ${no}`
            : 'Choose a step by pointer or arrow keys; click or Enter shows its request as it was sent.'}
        </Dim>
      )}
      <Folded head="Every step as a table">
        {() => <Paged columns={TABLE} rows={rows} label="Every step" noun="step" />}
      </Folded>
      <LeftOut of={doc.left_out?.timeline} what="step" />
    </section>
  );
}

const NOTHING: StepRow[][] = [];

/** The step the cursor is at: its numbers are also the key to the colours of the chart. */
function Readout({ row, newest, go }: { row: StepRow; newest: boolean; go: ViewProps['go'] }) {
  const said = what(row);
  return (
    <div class="e-readout">
      <Stats
        of={[
          { name: `step ${grouped(row.step)}${newest ? ', newest' : ''}`, value: percent(row.fill), unit: 'full' },
          { name: 'tokens', value: grouped(row.tokens) },
          ...PARTS.map(([name, looks]) => ({ name, value: grouped(row[name]), looks })),
          { name: 'headroom', value: grouped(row.headroom) }
        ]}
      />
      <p class={said ? '' : 'e-dim'}>
        {said || 'nothing happened before it was sent'}{' '}
        {go && (
          <Button tone="quiet" onClick={() => go('diff', { step: row.step })}>
            See what left
          </Button>
        )}
      </p>
    </div>
  );
}

/** What is marked on the chart, each with its steps. */
function Happened({ rows }: { rows: readonly StepRow[] }) {
  const found = useMemo(
    () => happened(rows).map(([kind, steps]) => [kind, `: ${numbered(steps, 'step', MOST)}`] as const),
    [rows]
  );
  return found.length ? <Legend of={found} /> : null;
}
