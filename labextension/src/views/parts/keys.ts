/** What keys do in every view. */

/** Esc closes the innermost thing that is open, and reaches nothing around it. */
export function closing(open: boolean, close: () => void) {
  return (event: KeyboardEvent) => {
    if (event.key === 'Escape' && open) {
      event.stopPropagation();
      close();
    }
  };
}

/** Where a key leads from `at` among `size` places, no further than the ends; undefined for other keys. */
export function reached(key: string, at: number, size: number, page = 10): number | undefined {
  const to = {
    ArrowRight: at + 1,
    ArrowDown: at + 1,
    ArrowLeft: at - 1,
    ArrowUp: at - 1,
    PageDown: at + page,
    PageUp: at - page,
    Home: 0,
    End: size - 1
  }[key];
  return to === undefined || !size ? undefined : clamped(to, 0, size - 1);
}

export function clamped(value: number, least: number, most: number): number {
  return Math.max(least, Math.min(most, value));
}

/** Puts the focus on what `selector` finds in there. */
export function focus(within: Element | null | undefined, selector: string): void {
  within?.querySelector<HTMLElement>(selector)?.focus();
}
