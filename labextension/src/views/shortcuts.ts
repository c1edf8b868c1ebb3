/**
 * Keeps keys that are pressed in a view from the notebook around it: its shortcuts of one letter would act on the cell.
 * Ctrl+S and its like go on to the host.
 */

/** From now on for `el`; returns how to end that. */
export function keepKeys(el: HTMLElement): () => void {
  // JupyterLab listens at the document before anybody inside it is told, so the window is where it can be said in time.
  const mark = (event: KeyboardEvent) => el.toggleAttribute('data-lm-suppress-shortcuts', plain(event));
  const stop = (event: KeyboardEvent) => plain(event) && event.stopPropagation();
  window.addEventListener('keydown', mark, true);
  el.addEventListener('keydown', stop);
  return () => {
    window.removeEventListener('keydown', mark, true);
    el.removeEventListener('keydown', stop);
  };
}

function plain(event: KeyboardEvent): boolean {
  return !(event.ctrlKey || event.metaKey || event.altKey);
}
