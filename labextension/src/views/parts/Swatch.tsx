/** The sign of a slice: its colour with its letter. Both come from palette.css. */

/** The class of a slice's colour; its slug is the last word of its name. */
export function slice(name: string): string {
  return `e-c-${name.slice(name.lastIndexOf(' ') + 1)}`;
}

export function Swatch({ of }: { of: string }) {
  return <i class={`e-sw ${of}`} aria-hidden="true" />;
}
