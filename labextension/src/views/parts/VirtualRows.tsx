/**
 * Rows of a long list: only those in sight are drawn, all of one height, which the sheet sets as `--row`.
 *
 * It is a grid with one focus: arrow keys move the active row, so that rows may come and go under a reader. A change of
 * the list keeps what is in sight in its place; one that was scrolled to its end follows it.
 */
import type { ComponentChildren } from 'preact';
import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { reached } from './keys';
import { useResized } from './useWidth';

const BEYOND = 6; // ► rows drawn above and below those in sight
const GUESS = { row: 44, view: 480 }; // ► pixels until they are measured

/** A field of every row: its grid area, its head, what stands in it, and the order that its head asks for. */
export type Field<T> = readonly [string, string, (row: T) => ComponentChildren, string?];

interface VirtualRowsProps<T> {
  label: string;
  columns: readonly Field<T>[];
  /** Which of the columns names the row. */
  names: number;
  rows: readonly T[];
  id: (row: T) => string | number;
  sorted: { order: string; down: boolean };
  sort: (by: string) => void;
  /** Of the active row, -1 for none. */
  active: number;
  move: (at: number) => void;
  open: (at: number) => void;
  close: () => void;
  /** The row that is opened, -1 for none. */
  opened: number;
  /** What the order and choice of rows depends on: where it changes, the list begins at its top again. */
  fresh: string;
  /** Whether new rows come in at the end. */
  follow: boolean;
  name: string;
}

/** What is in sight, so that it can be found again. */
interface Held {
  at: number;
  rest: number;
  end: boolean;
}

export function VirtualRows<T>(props: VirtualRowsProps<T>) {
  const { columns, rows, id, sorted, active, opened, fresh, follow, name } = props;
  const own = useId();
  const box = useRef<HTMLDivElement>(null);
  const probe = useRef<HTMLDivElement>(null);
  const [size, resize] = useState(GUESS);
  const [top, scrolled] = useState(0);
  const held = useRef<Held>({ at: 0, rest: 0, end: false });
  const old = useRef({ rows, fresh, row: size.row });

  const look = () => {
    const el = box.current!;
    const at = Math.floor(el.scrollTop / size.row);
    const last = el.scrollHeight - el.clientHeight;
    held.current = { at, rest: el.scrollTop - at * size.row, end: last > 2 && el.scrollTop >= last - 2 };
    scrolled(at);
  };

  useResized(() => {
    const [row, view] = [probe.current?.getBoundingClientRect().height, box.current?.clientHeight];
    // A hidden list has no size; it keeps its last.
    if (row && view) {
      resize(was => (was.row === row && was.view === view ? was : { row, view }));
    }
  }, [box, probe]);

  useLayoutEffect(() => {
    const el = box.current!;
    const was = old.current;
    old.current = { rows, fresh, row: size.row };
    if (was.fresh !== fresh) {
      el.scrollTop = 0;
    } else if (held.current.end && follow && was.rows !== rows) {
      el.scrollTop = el.scrollHeight;
    } else if (was.rows !== rows || was.row !== size.row) {
      const at = found(was.rows, rows, held.current.at, id);
      const to = at * size.row + (at === held.current.at || was.row === size.row ? held.current.rest : 0);
      if (Math.abs(el.scrollTop - to) >= 1) {
        el.scrollTop = to;
      }
    }
    look();
  }, [rows, fresh, size.row]);

  // The active row is brought into sight when another becomes it, not when the list changes under it.
  const reveal = (at: number) => {
    const el = box.current!;
    const room = el.clientHeight - ((el.firstElementChild as HTMLElement | null)?.offsetHeight ?? 0);
    if (at * size.row < el.scrollTop) {
      el.scrollTop = at * size.row;
    } else if ((at + 1) * size.row > el.scrollTop + room) {
      el.scrollTop = (at + 1) * size.row - room;
    }
  };
  const here = rows[active] === undefined ? null : id(rows[active]!);
  useLayoutEffect(() => {
    if (here !== null) {
      reveal(active);
    }
  }, [here]);

  const press = (event: KeyboardEvent) => {
    if (event.target !== box.current || event.ctrlKey || event.metaKey || event.altKey) {
      return;
    }
    const page = Math.max(1, Math.floor(size.view / size.row) - 2);
    // Where none is active yet, it begins with the first in sight.
    const to = reached(event.key, active < 0 ? held.current.at - 1 : active, rows.length, page);
    if (to !== undefined) {
      reveal(to);
      props.move(to);
    } else if ((event.key === 'Enter' || event.key === ' ') && active >= 0) {
      props.open(active);
    } else if (event.key === 'Escape' && opened >= 0) {
      props.close();
    } else {
      return;
    }
    event.preventDefault();
  };

  const inSight = Math.ceil(size.view / size.row) + 1;
  const from = Math.max(0, Math.min(top, rows.length - inSight) - BEYOND);
  const most = inSight + 2 * BEYOND;
  const to = Math.min(rows.length, from + most);
  return (
    <div
      class={`e-rows ${name}`}
      ref={box}
      role="grid"
      tabIndex={0}
      aria-label={props.label}
      aria-rowcount={rows.length + 1}
      aria-colcount={columns.length}
      aria-activedescendant={active >= from && active < to ? `${own}-${active}` : undefined}
      onScroll={look}
      onKeyDown={press}
    >
      <div class="e-rows-head" role="rowgroup">
        <div class="e-r" role="row" aria-rowindex={1}>
          {columns.map(([at, head, , by]) => {
            const on = by && sorted.order === by;
            return (
              <span
                role="columnheader"
                class={`e-at-${at}`}
                style={{ gridArea: at }}
                aria-sort={by ? (on ? (sorted.down ? 'descending' : 'ascending') : 'none') : undefined}
              >
                {by ? (
                  <button class="e-bare" onClick={() => props.sort(by)}>
                    {head} <i aria-hidden="true">{on && (sorted.down ? '▾' : '▴')}</i>
                  </button>
                ) : (
                  head
                )}
              </span>
            );
          })}
        </div>
      </div>
      <div role="rowgroup" class="e-rows-body" style={{ height: `${rows.length * size.row}px` }}>
        <div class="e-rows-probe" ref={probe} />
        {rows.slice(from, to).map((row, index) => {
          const at = from + index;
          return (
            <div
              // A row that comes into sight takes the element of one that went: scrolling makes no new ones.
              key={at % most}
              id={`${own}-${at}`}
              class={`e-r${at === active ? ' e-active' : ''}${at === opened ? ' e-opened' : ''}`}
              role="row"
              aria-rowindex={at + 2}
              aria-selected={at === opened}
              style={{ transform: `translateY(${at * size.row}px)` }}
              onClick={() => chosen(box.current!) || props.open(at)}
            >
              {columns.map(([at, , cell], index) => (
                <span
                  role={index === props.names ? 'rowheader' : 'gridcell'}
                  class={`e-at-${at}`}
                  style={{ gridArea: at }}
                >
                  {cell(row)}
                </span>
              ))}
            </div>
          );
        })}
      </div>
    </div>
  );
}

/** Where the row that was at `at` is now; of one that is gone, the next that is still there. */
export function found<T>(was: readonly T[], now: readonly T[], at: number, id: (row: T) => string | number): number {
  const here = was[at];
  if (here === undefined || (now[at] !== undefined && id(now[at]) === id(here))) {
    return at;
  }
  const places = new Map(now.map((row, index) => [id(row), index]));
  for (let next = at; next < was.length; next++) {
    const place = places.get(id(was[next]!));
    if (place !== undefined) {
      return place;
    }
  }
  return Math.min(at, Math.max(0, now.length - 1));
}

/** Whether a text in there is being selected: that opens nothing. */
function chosen(el: Element): boolean {
  const selection = document.getSelection();
  return Boolean(selection && !selection.isCollapsed && el.contains(selection.anchorNode));
}
