/**
 * Segments: what is in the window, whether it may leave and why, and what the next cleanup would do.
 *
 * Ten thousand rows or none; a row opened is read, and pinned, in a panel under the list.
 */
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { Segment } from './doc';
import { grouped, line, opened } from './format';
import { Dim } from './parts/Dim';
import { Icon } from './parts/Icon';
import { focus } from './parts/keys';
import { LeftOut } from './parts/LeftOut';
import { OpenedSegment, Verdict } from './parts/OpenedSegment';
import { Options, Search, Select } from './parts/Form';
import {
  allowed,
  FILTERS,
  kindWord,
  type Order,
  reasons,
  sliceOf,
  source,
  summary,
  trust,
  type Wanted,
  wanted
} from './parts/segments';
import { slice } from './parts/Swatch';
import { useCalm } from './parts/useCalm';
import { type Field, VirtualRows } from './parts/VirtualRows';
import type { ViewProps } from './view';

const TITLE = 120; // ► characters, as views/limits.py
const ORDERS: readonly Order[] = ['position', 'tokens', 'retention'];
const ALL: Wanted = { text: '', filter: 'all', order: 'position', down: false };

export function SegmentList({ doc, status, ask, options }: ViewProps) {
  const { segments } = doc;
  const [want, set] = useState<Wanted>(ALL);
  const [active, activate] = useState<string | null>(null);
  const [opened, show] = useState<string | null>(null);
  const root = useRef<HTMLElement>(null);
  const rows = useMemo(() => wanted(segments, want), [segments, want]);
  const fields = useMemo(() => fieldsOf(segments.reduce((most, { tokens }) => Math.max(most, tokens), 1)), [segments]);
  const told = useMemo(() => summary(segments), [segments]);
  const place = (id: string | null) => (id === null ? -1 : rows.findIndex(row => row.id === id));

  const open = (id: string | null) => {
    show(id);
    activate(was => id ?? was);
  };
  useEffect(() => {
    const { segment, search = '', sort = 'position' } = options;
    if (Object.keys(options).some(name => ['segment', 'search', 'sort'].includes(name))) {
      set({ ...ALL, text: String(search), ...ordered(String(sort)) });
      open(segment === undefined ? null : String(segment));
    }
  }, [options]);

  const close = () => {
    open(null);
    focus(root.current, '[role=grid]');
  };
  const sort = (by: string) => {
    set({ ...want, ...ordered(by), ...(want.order === by && { down: !want.down }) });
  };
  const press = (event: KeyboardEvent) => {
    if (event.key === '/' && !(event.target as Element).matches('input, select')) {
      event.preventDefault();
      focus(root.current, 'input');
    }
  };

  return (
    <section class="e-view e-list" aria-label="Segments" ref={root} onKeyDown={press}>
      {segments.length ? (
        <>
          <Dim>
            {doc.left_out?.segments && 'Stored here: '}
            {told}
          </Dim>
          <Finder want={want} set={set} shown={rows.length} segments={segments} />
          <VirtualRows
            name={segments.length > 999 ? 'e-seg e-many' : 'e-seg'}
            label="Segments"
            columns={fields}
            names={1}
            sorted={want}
            sort={sort}
            rows={rows}
            id={row => row.id}
            active={place(active)}
            move={at => activate(rows[at]?.id ?? null)}
            opened={place(opened)}
            open={at => open(rows[at]!.id === opened ? null : rows[at]!.id)}
            close={() => open(null)}
            fresh={JSON.stringify(want)}
            follow={want.order === 'position' && !want.down}
          />
          {!rows.length && <Dim>No segment is like that. Esc in the search shows all again.</Dim>}
          <LeftOut of={doc.left_out?.segments} what="segment" />
          {opened !== null && (
            <OpenedSegment key={opened} id={opened} doc={doc} status={status} ask={ask} close={close} />
          )}
        </>
      ) : (
        <p>Nothing is in the window yet.</p>
      )}
    </section>
  );
}

/** The order a column stands for, as it is wanted first: the largest, or what leaves first, at the top. */
function ordered(by: string): Pick<Wanted, 'order' | 'down'> {
  const order = ORDERS.find(order => order === by) ?? 'position';
  return { order, down: order !== 'position' };
}

interface FinderProps {
  want: Wanted;
  set: (want: Wanted) => void;
  shown: number;
  segments: readonly Segment[];
}

/** Search and filter, and how many are shown. */
function Finder({ want, set, shown, segments }: FinderProps) {
  const kinds = useMemo(() => [...new Set(segments.map(({ kind }) => kind))].sort(), [segments]);
  const hits = want.text || want.filter !== 'all' ? `${grouped(shown)} of ${grouped(segments.length)}` : '';
  // Said when a person has stopped typing, and not with every row that a run adds.
  const said = useCalm(hits, 1_500);
  const press = (event: KeyboardEvent) => {
    if (event.key === 'Escape') {
      set({ ...want, text: '', filter: 'all' });
    } else if (event.key === 'ArrowDown' || event.key === 'Enter') {
      event.preventDefault();
      focus((event.currentTarget as Element).closest('.e-list'), '[role=grid]');
    }
  };
  return (
    <div class="e-row e-finder" role="search">
      <Search
        label="Search title, source, address, reason"
        value={want.text}
        type={text => set({ ...want, text })}
        press={press}
      />
      <Select label="Which segments" value={want.filter} pick={filter => set({ ...want, filter })}>
        <Options of={['all', ...Object.keys(FILTERS)]} />
        <optgroup label="by trust">
          <Options of={['owner', 'agent', 'outside']} as="trust:" />
        </optgroup>
        <optgroup label="by kind">
          <Options of={kinds} as="kind:" said={kindWord} />
        </optgroup>
      </Select>
      <small>{hits}</small>
      <span class="e-said" role="status">
        {said && `${said} segments shown`}
      </span>
    </div>
  );
}

/** `largest` is the most tokens of any: bars are to that scale. */
function fieldsOf(largest: number): Field<Segment>[] {
  return [
    ['n', '#', row => grouped(row.position), 'position'],
    ['t', 'segment', title],
    [
      's',
      'source',
      row => {
        const from = source(row);
        return (
          <>
            {from && <span>{from}</span>}
            <span class={from && 'e-dim'}>{trust(row)}</span>
          </>
        );
      }
    ],
    [
      'k',
      'tokens',
      row => (
        <>
          {grouped(row.tokens)}
          <i class={slice(sliceOf(row.kind))} style={{ width: `${Math.max(2, (row.tokens * 100) / largest)}%` }} />
        </>
      ),
      'tokens'
    ],
    ['v', 'next cleanup', row => <Verdict of={row} />],
    ['r', 'retention', row => row.retention, 'retention'],
    [
      'w',
      'may it leave, and why',
      row => {
        const why = reasons(row);
        return (
          <>
            {opened(allowed(row))}
            {why && <span class="e-dim">: {why}</span>}
          </>
        );
      }
    ]
  ];
}

function title(of: Segment) {
  const pinned = of.pin !== null || of.kind === 'pin';
  return (
    <>
      <Icon name={pinned ? 'pin' : of.droppable ? 'open' : 'lock'} label={pinned ? 'pinned' : allowed(of)} />
      <b>{line(of.title, TITLE)}</b>
      <small>
        {[kindWord(of.kind), of.incomplete && 'incomplete', of.collapsed && 'as one line'].filter(Boolean).join(', ')}
        <code>{line(of.address, TITLE)}</code>
      </small>
    </>
  );
}
