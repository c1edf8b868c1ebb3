/** The bar: a window to scale with its levels. Everything on it is also said in the table below it. */
import { useRef } from 'preact/hooks';
import type { Doc } from '../doc';
import type { Row } from './budget';
import { marks, pieces, place, whole } from './scale';
import { useWidth } from './useWidth';

interface BarProps {
  doc: Doc;
  rows: readonly Row[];
  /** The key of the part that is pointed at, here or in the table. */
  lit: string;
  light: (key: string) => void;
}

export function Bar({ doc, rows, lit, light }: BarProps) {
  const box = useRef<HTMLDivElement>(null);
  const { em } = useWidth(box);
  const { window, budget } = doc;
  const all = whole(doc);
  const placed = place(marks(doc), em);
  const raised = placed.some(({ row }) => row === 'above');
  return (
    <div
      class={`e-scale${raised ? ' e-raised' : ''}`}
      ref={box}
      role="img"
      aria-label="The window to scale; the table below has its numbers"
    >
      <div class={`e-bar${lit ? ' e-lit' : ''}`}>
        {pieces(doc, rows).map(({ key, looks, share }) => (
          <i
            key={key}
            class={`${looks}${share * em < LETTER ? ' e-thin' : ''}${lit === key ? ' e-on' : ''}`}
            style={{ width: wide(share) }}
            onPointerEnter={() => light(key)}
            onPointerLeave={() => light('')}
          />
        ))}
        {budget.over > 0 && (
          <i class="e-over" style={{ left: wide(window.hard / all), width: wide(budget.over / all) }} />
        )}
      </div>
      {placed.map(({ mark: { name, value, at }, row, left, width }) => (
        <span key={name} class={`e-mark e-${row}`}>
          {name !== 'answer' && <i style={{ left: wide(at) }} />}
          {row && (
            <span style={{ left: wide(left / em), width: wide(width / em) }}>
              {name}
              <br />
              {value}
            </span>
          )}
        </span>
      ))}
    </div>
  );
}

const LETTER = 1.3; // ► ems that a slice needs to carry its letter

function wide(share: number): string {
  return `${(share * 100).toFixed(3)}%`;
}
