/** Tabs over one panel: arrow keys, Home and End move between them. */
import type { ComponentChildren } from 'preact';
import { useId, useLayoutEffect, useRef } from 'preact/hooks';

export interface Tab {
  id: string;
  title: string;
}

interface TabsProps {
  label: string;
  tabs: readonly Tab[];
  at: string;
  pick: (id: string) => void;
  children: ComponentChildren;
}

export function Tabs({ label, tabs, at, pick, children }: TabsProps) {
  const own = useId();
  const row = useRef<HTMLDivElement>(null);
  const shown = useRef(at);
  useLayoutEffect(() => {
    if (shown.current !== at) {
      shown.current = at;
      // A row of tabs may be narrower than they are.
      row.current?.querySelector('[aria-selected=true]')?.scrollIntoView?.({ block: 'nearest', inline: 'nearest' });
    }
  }, [at]);
  const move = (event: KeyboardEvent) => {
    const here = tabs.findIndex(tab => tab.id === at);
    const to = moved(event.key, here, tabs.length);
    if (to >= 0) {
      event.preventDefault();
      pick(tabs[to]!.id);
      (row.current?.children[to] as HTMLElement | undefined)?.focus();
    }
  };
  return (
    <div>
      <div class="e-tabs" role="tablist" aria-label={label} ref={row} onKeyDown={move}>
        {tabs.map(tab => (
          <button
            key={tab.id}
            role="tab"
            id={`${own}-${tab.id}`}
            aria-selected={tab.id === at}
            aria-controls={own}
            tabIndex={tab.id === at ? 0 : -1}
            onClick={() => pick(tab.id)}
          >
            {tab.title}
          </button>
        ))}
      </div>
      <div role="tabpanel" id={own} aria-labelledby={`${own}-${at}`}>
        {children}
      </div>
    </div>
  );
}

/** Where a key leads from `here` among `size` places, round the ends; -1 for other keys. */
export function moved(key: string, here: number, size: number): number {
  const to = { ArrowRight: here + 1, ArrowLeft: here - 1, Home: 0, End: size - 1 }[key];
  return to === undefined ? -1 : (to + size) % size;
}
