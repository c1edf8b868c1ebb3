/** The first of a long list, and a button that shows the rest. */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { grouped } from '../format';
import { Button } from './Button';

interface SomeProps<T> {
  of: readonly T[];
  most: number;
  more: string;
  children: (shown: readonly T[]) => ComponentChildren;
}

export function Some<T>({ of, most, more, children }: SomeProps<T>) {
  const [all, show] = useState(false);
  const hidden = of.length - most;
  return (
    <>
      {children(all ? of : of.slice(0, most))}
      {hidden > 0 && (
        <Button tone="quiet" onClick={() => show(!all)}>
          {all ? 'Show fewer' : `${grouped(hidden)} ${more}`}
        </Button>
      )}
    </>
  );
}
