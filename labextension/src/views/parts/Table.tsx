/** A table. Its roles are spelled out: laid out as cards, it stays a table to a screen reader. */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { grouped } from '../format';
import { Turn } from './Pages';

/** Its head, what stands in it of a row, and its look. */
export type Column<T> = readonly [string, (row: T, at: number) => ComponentChildren, string?];

interface TableProps<T> {
  /** The first is the head of each row. */
  columns: readonly Column<T>[];
  rows: readonly T[];
  name: string;
  caption?: string;
  /** The look of the head row. */
  head?: string;
  /** More attributes of a row. */
  more?: (row: T) => object;
}

export function Table<T>({ columns, rows, name, caption, head, more }: TableProps<T>) {
  return (
    <table class={name} role="table">
      {caption && <caption class="e-said">{caption}</caption>}
      <thead class={head} role="rowgroup">
        <tr role="row">
          {columns.map(([said, , looks]) => (
            <th role="columnheader" class={looks}>
              {said}
            </th>
          ))}
        </tr>
      </thead>
      <tbody role="rowgroup">
        {rows.map((row, at) => (
          <tr role="row" {...more?.(row)}>
            {columns.map(([said, cell, looks], first) => {
              const Cell = first ? 'td' : 'th';
              return (
                <Cell
                  role={first ? 'cell' : 'rowheader'}
                  class={looks}
                  data-l={said}
                >
                  {cell(row, at)}
                </Cell>
              );
            })}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

const PAGE = 100; // ► rows of one page

interface PagedProps<T> {
  columns: readonly Column<T>[];
  rows: readonly T[];
  label: string;
  /** What a row is. */
  noun: string;
}

/** A long table by pages, the newest first. */
export function Paged<T>({ columns, rows, label, noun }: PagedProps<T>) {
  const last = Math.ceil(rows.length / PAGE) - 1;
  // null follows a run to its newest page.
  const [chosen, turn] = useState<number | null>(null);
  const page = Math.min(chosen ?? last, last);
  const from = page * PAGE;
  return (
    <>
      <div class="e-scroll" tabIndex={0} role="region" aria-label={`${label}, scrollable`}>
        <Table name="e-steps" columns={columns} rows={rows.slice(from, from + PAGE)} />
      </div>
      {last > 0 && (
        <div class="e-row">
          <small>
            {noun}s {grouped(from + 1)}–{grouped(Math.min(from + PAGE, rows.length))} of {grouped(rows.length)}
          </small>
          <Turn page={page} last={last} turn={to => turn(to === last ? null : to)} />
        </div>
      )}
    </>
  );
}
