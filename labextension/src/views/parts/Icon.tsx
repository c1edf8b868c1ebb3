/** Small line drawings, 12 by 12. Each stands beside its word, or says it by `label`. */

const DRAWN = {
  lock: 'M3.5 5.5V4a2.5 2.5 0 0 1 5 0v1.5M2.5 5.5h7v5h-7z',
  open: 'M3.5 5.5V3.6A2.5 2.5 0 0 1 8 2.5M2.5 5.5h7v5h-7z',
  pin: 'M4 1.5h4M4.6 1.5v3.4L3 7h6L7.4 4.9V1.5M6 7v3.8',
  kept: 'M2 6.5 4.8 9.2 10 3',
  lost: 'M2.8 2.8l6.4 6.4M9.2 2.8 2.8 9.2',
  invented: 'M4 4.2a2 2 0 1 1 2.9 1.8c-.6.3-.9.7-.9 1.5M6 9.6v.4',
  warn: 'M6 1.6 11 10.4H1zM6 4.8v2.6M6 8.8v.3',
  search: 'M5 1.8a3.2 3.2 0 1 0 0 6.4 3.2 3.2 0 0 0 0-6.4M7.4 7.4 10.6 10.6',
  down: 'M2.5 4.5 6 8l3.5-3.5',
  up: 'M2.5 7.5 6 4l3.5 3.5',
  left: 'M7.5 2.5 4 6l3.5 3.5',
  right: 'M4.5 2.5 8 6 4.5 9.5',
  close: 'M3 3l6 6M9 3 3 9'
};

export type IconName = keyof typeof DRAWN;

export function Icon({ name, label }: { name: IconName; label?: string }) {
  return (
    <svg class="e-ic" viewBox="0 0 12 12" role={label ? 'img' : undefined} aria-label={label} aria-hidden={!label}>
      <path d={DRAWN[name]} />
    </svg>
  );
}
