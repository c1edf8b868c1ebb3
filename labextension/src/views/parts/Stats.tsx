/** Numbers side by side, each under its word. */
import type { ComponentChildren } from 'preact';
import { Swatch } from './Swatch';

export interface Stat {
  name: string;
  value: ComponentChildren;
  /** What stands behind the value, smaller. */
  unit?: string;
  looks?: string;
}

export function Stats({ of }: { of: readonly Stat[] }) {
  return (
    <dl class="e-stats">
      {of.map(({ name, value, unit, looks }) => (
        <div key={name}>
          <dt>
            {looks && <Swatch of={`${looks} e-dot`} />}
            {name}
          </dt>
          <dd>
            {value}
            {unit && <small> {unit}</small>}
          </dd>
        </div>
      ))}
    </dl>
  );
}
