/** The timeline's chart: what each request consists of. Keyboard and pointer move a cursor over the steps. */
import { useId, useMemo } from 'preact/hooks';
import type { Levels, StepRow } from '../doc';
import { columns, type Scale, stepped } from './fills';
import { clamped, reached } from './keys';
import { GAP, Plot } from './Plot';
import { spoken } from './timeline';

/** What a request consists of, from the bottom of its column: the name, and the look of it. */
export const PARTS = [
  ['fixed', 'e-c-system'],
  ['task', 'e-c-task'],
  ['history', 'e-c-history'],
  ['output', 'e-c-output']
] as const;

interface ColumnsProps {
  rows: readonly StepRow[];
  levels: Levels;
  /** Index of the step the cursor is at. */
  at: number;
  /** Whether somebody put it there; else it is at the newest. */
  chosen: boolean;
  move: (index: number | null) => void;
  open?: () => void;
}

export function Columns({ rows, levels, at, chosen, move, open }: ColumnsProps) {
  const id = useId();
  const series = useMemo(() => [rows], [rows]);
  const point = (event: PointerEvent, step: number) => {
    const from = (event.currentTarget as Element).getBoundingClientRect().left;
    move(clamped(Math.floor((event.clientX - from) / step), 0, rows.length - 1));
  };
  const press = (event: KeyboardEvent) => {
    // Esc leads back to the newest step.
    const to = event.key === 'Escape' ? null : reached(event.key, at, rows.length);
    if (to !== undefined) {
      move(to);
    } else if (event.key === 'Enter' || event.key === ' ') {
      open?.();
    } else {
      return;
    }
    event.preventDefault();
  };
  return (
    <Plot levels={levels} series={series} draw={(points, scale) => drawn(points, scale, id)}>
      {step => (
        <div
          class="e-plot"
          role="slider"
          tabIndex={0}
          aria-label="Fill by step; what happened stands below. Step"
          aria-valuemin={1}
          aria-valuemax={rows.length}
          aria-valuenow={at + 1}
          aria-valuetext={spoken(rows[at]!)}
          data-chosen={chosen || undefined}
          onKeyDown={press}
          onPointerMove={event => point(event, step)}
          onPointerLeave={() => move(null)}
          onClick={open}
        >
          <i class="e-cursor" style={{ left: `${at * step}px`, width: `${step}px` }} />
        </div>
      )}
    </Plot>
  );
}

/**
 * A column is filled up to the lowest fill of its steps, by what that request consists of; from there to the highest
 * it is hatched: that was there and left again.
 */
function drawn(rows: readonly StepRow[], scale: Scale, id: string) {
  const { step, end, y } = scale;
  const found = columns(rows, step);
  return (
    <>
      <defs>
        <pattern id={id} width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
          <path d="M0 0V5" class="e-hatching" />
        </pattern>
        <pattern id={`${id}g`} width={step} height="100%" patternUnits="userSpaceOnUse">
          <rect width={step < GAP ? step : step - 1} height="100%" fill="#fff" />
        </pattern>
        <mask id={`${id}m`}>
          <rect width={end} height={y(0)} fill={step < GAP ? '#fff' : `url(#${id}g)`} />
        </mask>
      </defs>
      <g mask={`url(#${id}m)`}>
        <path d={stepped(found, scale, ({ high }) => high)} fill={`url(#${id})`} />
        {PARTS.map(([, looks], at) => (
          <path class={looks} d={stepped(found, scale, ({ row }) => reaches(row, at + 1))} />
        )).reverse()}
      </g>
    </>
  );
}

/** How far up the first parts of a request reach, per mille of usable: `upto` of `PARTS`, counted from 1. */
function reaches(row: StepRow, upto: number): number {
  if (upto === PARTS.length || !row.tokens) {
    return row.fill;
  }
  return (row.fill * PARTS.slice(0, upto).reduce((sum, [name]) => sum + row[name], 0)) / row.tokens;
}
