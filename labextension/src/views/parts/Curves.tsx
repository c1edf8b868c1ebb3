/** Curves of fill over the same steps, the first drawn solid, the second dashed. */
import type { Levels } from '../doc';
import { columns, curve } from './fills';
import { Plot } from './Plot';
import type { Point } from './timeline';

interface CurvesProps {
  of: readonly (readonly Point[])[];
  levels: Levels;
  /** The same in words. */
  said: string;
}

export function Curves({ of, levels, said }: CurvesProps) {
  return (
    <div class="e-curves" role="img" aria-label={said}>
      <Plot
        levels={levels}
        series={of}
        draw={(points, scale) => {
          const found = columns(points, scale.step);
          const line = curve(found, scale);
          const [first, bottom] = [scale.step / 2, scale.y(0)];
          return (
            <>
              <path class="e-under" d={`${line}L${scale.step * points.length - first} ${bottom}H${first}Z`} />
              <path d={line} />
            </>
          );
        }}
      />
    </div>
  );
}
