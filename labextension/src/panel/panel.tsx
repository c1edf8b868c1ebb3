/** The side panel: the whole context of the notebook or console that is followed, or why there is none to see. */
import type { TranslationBundle } from '@jupyterlab/translation';
import type { Message } from '@lumino/messaging';
import { Widget } from '@lumino/widgets';
import { render } from 'preact';
import type { Listed } from '../views/channel';
import { offline } from '../views/channel';
import { ContextView } from '../views/ContextView';
import { line } from '../views/format';
import { keepKeys } from '../views/shortcuts';
import { type Follower, watch } from './follow';
import { icon } from './icon';
import type { Link } from './link';
import { reason } from './reason';

export const PANEL_ID = 'ethang-nb-panel';

export class ContextPanel extends Widget {
  private leave: () => void;
  private free = keepKeys(this.node);

  constructor(
    private follower: Follower,
    private trans: TranslationBundle
  ) {
    super();
    this.id = PANEL_ID;
    this.addClass('jp-ethang-panel');
    this.title.icon = icon;
    this.title.caption = trans.__('Context window (ethang)');
    this.node.setAttribute('role', 'region');
    this.node.setAttribute('aria-label', this.title.caption);
    // Lumino joins updates that come between two drawings, so a fast run draws no more often than it can be seen.
    this.leave = watch(follower, () => this.update());
  }

  override dispose(): void {
    if (!this.isDisposed) {
      this.leave();
      this.free();
      render(null, this.node);
      super.dispose();
    }
  }

  protected override onAfterShow(message: Message): void {
    super.onAfterShow(message);
    this.update();
  }

  protected override onUpdateRequest(): void {
    if (this.isVisible) {
      render(<Panel follower={this.follower} trans={this.trans} />, this.node);
    }
  }
}

interface PanelProps {
  follower: Follower;
  trans: TranslationBundle;
}

function Panel({ follower, trans }: PanelProps) {
  const { link, situation } = follower;
  const why = reason(situation, trans);
  return (
    <div class="eth-live jp-ethang-body">
      {situation.name === null ? null : (
        <div class="jp-ethang-head">
          <span class="jp-ethang-place" title={line(situation.name)}>
            {line(situation.name)}
          </span>
          {link && link.sources.length > 1 ? <Choice link={link} trans={trans} /> : null}
        </div>
      )}
      <p class="jp-ethang-why" role="status" hidden={!why}>
        <Said text={why} />
      </p>
      {link?.store.doc ? <Shown link={link} /> : null}
    </div>
  );
}

/** A view of another source begins anew: nothing that was opened or typed belongs to it. */
function Shown({ link }: { link: Link }) {
  const { store, channel, shown } = link;
  const doc = store.doc!;
  const ask = channel ?? offline(doc);
  return <ContextView key={shown ?? ''} doc={doc} status={store.status} ask={ask} options={{}} />;
}

/** Which of the kernel's sessions and contexts to see. */
function Choice({ link, trans }: { link: Link; trans: TranslationBundle }) {
  return (
    <select
      aria-label={trans.__('Session or context to show')}
      value={link.shown ?? ''}
      onChange={event => link.show(event.currentTarget.value)}
    >
      {link.sources.map(source => (
        <option key={source.id} value={source.id}>
          {named(source)}
        </option>
      ))}
    </select>
  );
}

function named({ name, state }: Listed): string {
  return `${line(name, 60)} · ${line(state, 30)}`;
}

/** A sentence with code in backticks. */
function Said({ text }: { text: string }) {
  return (
    <>
      {text.split('`').map((part, at) => (at % 2 ? <code key={at}>{part}</code> : part))}
    </>
  );
}
