/** Budget: how full the window is, the window to scale, and where its tokens go. */
import { useState } from 'preact/hooks';
import type { Doc } from './doc';
import { grouped, percent } from './format';
import { Bar } from './parts/Bar';
import { mixed, notes, type Row, rows, sentences, warnings } from './parts/budget';
import { Dim } from './parts/Dim';
import { Icon } from './parts/Icon';
import { Swatch } from './parts/Swatch';
import { type Column, Table } from './parts/Table';
import { useCalm } from './parts/useCalm';
import type { ViewProps } from './view';

const COLUMNS: Column<Row>[] = [
  [
    'slice',
    ({ looks, name }) => (
      <>
        <Swatch of={looks} />
        <span>{name}</span>
      </>
    )
  ],
  ['tokens', row => grouped(row.tokens), 'e-n'],
  ['of usable', row => row.share, 'e-n e-dim']
];

export function BudgetBar({ doc }: ViewProps) {
  /** The key of the row that is pointed at, here or on the bar. */
  const [lit, light] = useState('');
  const parts = rows(doc);
  const said = warnings(doc);
  const each = mixed(doc);
  return (
    <section class="e-view e-budget" aria-label="Budget">
      <Figure doc={doc} />
      {said.length > 0 && (
        <ul class="e-warn">
          {said.map(warning => (
            <li>
              <Icon name="warn" /> {warning}
            </li>
          ))}
        </ul>
      )}
      <Bar doc={doc} rows={parts} lit={lit} light={light} />
      <Table
        name={`e-legend${each ? ' e-each' : ''}`}
        caption="Where the window goes, in tokens"
        head="e-said"
        columns={[...COLUMNS, ['counted', row => row.how, each ? 'e-dim' : 'e-said']]}
        rows={parts}
        more={({ key }) => ({
          class: lit === key && 'e-on',
          onPointerEnter: () => light(key),
          onPointerLeave: () => light('')
        })}
      />
      <Dim>{notes(doc).join(' ')}</Dim>
    </section>
  );
}

function Figure({ doc }: { doc: Doc }) {
  const { fill } = doc.budget;
  const full = `${percent(fill)} full`;
  const calm = useCalm(full);
  const [used, room] = sentences(doc);
  return (
    <div class="e-row e-figure">
      <strong
        class={tone(doc)}
        role="meter"
        aria-label="Fill"
        aria-valuenow={Math.min(100, fill / 10)}
        aria-valuetext={full}
      >
        {percent(fill).slice(0, -2)}
        <small> % full</small>
      </strong>
      <Dim>
        {used} <span>{room}</span>
      </Dim>
      <span class="e-said" role="status">
        {calm}
      </span>
    </div>
  );
}

/** The figure has the colour of what it means; the sentence and the bar say the same. */
function tone({ budget, window }: Doc): string {
  return budget.used > window.usable ? 'e-stop' : budget.room ? '' : 'e-warn';
}
