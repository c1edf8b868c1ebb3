/** A button that keeps the focus while it is busy, and leaves it to what it stands in when it goes. */
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';

interface ButtonProps {
  onClick: () => void;
  children: ComponentChildren;
  /** Said as unavailable, but not taken from the keyboard. */
  busy?: boolean;
  pressed?: boolean;
  label?: string;
  tone?: 'stop' | 'quiet';
}

export function Button({ onClick, children, busy, pressed, label, tone }: ButtonProps) {
  const own = useRef<HTMLButtonElement>(null);
  useLayoutEffect(() => {
    const button = own.current!;
    // Else the page would have it, and Esc would close nothing here.
    return () => button.matches(':focus') && button.closest<HTMLElement>('[tabindex]')?.focus({ preventScroll: true });
  }, []);
  return (
    <button
      ref={own}
      class={`e-btn${tone ? ` e-${tone}` : ''}`}
      aria-disabled={busy || undefined}
      aria-pressed={pressed}
      aria-label={label}
      onClick={() => busy || onClick()}
    >
      {children}
    </button>
  );
}

/** Copies `text`; says whether it could. */
export function Copy({ text }: { text: string }) {
  const [said, say] = useState('');
  const copy = () =>
    copied(text).then(
      () => say('Copied'),
      () => say('Not allowed here')
    );
  return (
    <>
      <Button onClick={copy} tone="quiet">
        Copy
      </Button>
      <small role="status">{said}</small>
    </>
  );
}

/** Rejects where the page may not write to the clipboard. Pages without TLS only have the old way. */
async function copied(text: string): Promise<void> {
  if (navigator.clipboard) {
    return navigator.clipboard.writeText(text);
  }
  const before = document.activeElement as HTMLElement | null;
  const box = document.createElement('textarea');
  box.value = text;
  document.body.append(box);
  box.select();
  const done = document.execCommand('copy');
  box.remove();
  before?.focus();
  if (!done) {
    throw new Error('not allowed');
  }
}
