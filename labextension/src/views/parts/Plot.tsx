/** The frame of a chart of fill by step: levels on its left, numbers of steps below, marks of what happened. */
import type { ComponentChildren } from 'preact';
import { useMemo, useRef } from 'preact/hooks';
import type { Levels } from '../doc';
import { grouped } from '../format';
import { labels, placed, type Scale, ticks, top } from './fills';
import { Shape } from './Shape';
import type { Point } from './timeline';
import { useWidth } from './useWidth';

const TALL = 13; // ► ems
const WIDEST = 3.4; // ► ems of one step: a run fills the chart from its left
/** ► Pixels of a step from which the steps stand apart. */
export const GAP = 5;

interface PlotProps<P extends Point> {
  levels: Levels;
  /** What is drawn, each with a point a step: a new list where it is to be drawn anew. */
  series: readonly (readonly P[])[];
  draw: (points: readonly P[], scale: Scale, at: number) => ComponentChildren;
  /** What lies over the drawing, told how wide a step is. */
  children?: (step: number) => ComponentChildren;
}

export function Plot<P extends Point>({ levels, series, draw, children }: PlotProps<P>) {
  const box = useRef<HTMLDivElement>(null);
  const { em, size } = useWidth(box);
  const wide = em * size;
  const tall = TALL * size;
  const all = series.reduce((most, points) => (points.length > most.length ? points : most), []);
  const step = Math.min(wide / (all.length || 1), WIDEST * size);
  const drawing = useMemo(() => {
    const most = Math.max(1000, ...series.map(top));
    const scale = { y: (fill: number) => tall - (fill * tall) / most, step, end: step * all.length };
    return (
      <svg height={tall} width="100%" aria-hidden="true">
        {most > 1000 && <rect class="e-beyond" width={wide} height={scale.y(1000)} />}
        {series.map((points, at) => (
          <g class={`e-of-${at}`}>{draw(points, scale, at)}</g>
        ))}
        {labels(levels, most, scale.y, size * 1.12).map(({ name, value, at, label }) => (
          <g class={name ? 'e-level' : 'e-edge'}>
            <path d={`M0 ${at}H${wide}M0 ${at}l-5 ${label - at}`} />
            <text x="-9" y={label} dy=".34em">
              {name || value}
              {name && <tspan> {value}</tspan>}
            </text>
          </g>
        ))}
        {series.map((points, at) => (
          <g class={`e-of-${at}`}>
            {placed(points, scale, step < GAP ? size * 2.4 : size, size).map(one => (
              <g transform={`translate(${one.x} ${Math.max(-1.4 * size, one.y)})`}>
                <Shape kind={one.kind} />
              </g>
            ))}
          </g>
        ))}
        {all.length > 0 &&
          ticks(all.length, step, size * 4).map(index => {
            const x = (index + 0.5) * step;
            // Kept inside of the chart at both ends.
            const [name, at] = !index ? ['e-first', 0] : x > wide - size * 2 ? ['', wide] : ['e-tick', x];
            return (
              <text class={name} x={at} y="100%" dy="1.35em">
                {index ? '' : 'step '}
                {grouped(all[index]!.step)}
              </text>
            );
          })}
      </svg>
    );
  }, [series, levels, wide, size]);
  return (
    <div class="e-chart" ref={box}>
      {drawing}
      {children?.(step)}
    </div>
  );
}
