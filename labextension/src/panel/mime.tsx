/**
 * Draws a saved document of a notebook, with no kernel behind it.
 *
 * Where the same output holds a widget and that widget still lives, the widget is shown. Whether it lives is what the
 * kernel's comms say: JupyterLab's own renderer is only asked once its model must be there, for it draws an error
 * where it is not, and goes on to say so for ever.
 */
import type { IRenderMime } from '@jupyterlab/rendermime-interfaces';
import type { IRenderMimeRegistry } from '@jupyterlab/rendermime';
import type { TranslationBundle } from '@jupyterlab/translation';
import type { Message } from '@lumino/messaging';
import { Panel, type Widget } from '@lumino/widgets';
import { render } from 'preact';
import { offline } from '../views/channel';
import { type Doc, VERSION } from '../views/doc';
import { show } from '../views/Root';
import { Store } from '../views/store';

export const MIME = 'application/vnd.ethang.snapshot+json';
const WIDGET = 'application/vnd.jupyter.widget-view+json';
const EVERY = 500; // ► milliseconds between two looks for a widget
const LOOKS = 40; // ► looks after the output appeared; a kernel that is there has answered by then
const TRIES = 2; // ► failed tries to draw a widget that lives; the widgets' renderer logs each as an error
const RANK = -20; // before widgets, which are at -10

/** What stands in an output: a document, or the name of a live view that was stored before its run began. */
type Stored = { version: number; live?: string };

export interface Lives {
  /** Whether a widget's comm lives in any kernel that is open here. */
  knows(comm: string): boolean;
}

export function addRenderer(rendermime: IRenderMimeRegistry, lives: Lives, trans: TranslationBundle): void {
  rendermime.addFactory(
    { safe: true, mimeTypes: [MIME], createRenderer: () => new SavedView(rendermime, lives, trans) },
    RANK
  );
}

export class SavedView extends Panel implements IRenderMime.IRenderer {
  private model: IRenderMime.IMimeModel | null = null;
  private widget: (Widget & IRenderMime.IRenderer) | null = null;
  private html: (Widget & IRenderMime.IRenderer) | null = null;
  /** The line of what the HTML folds away, which the views show better. */
  private folded = '';
  private saved = document.createElement('div');
  private away = () => undefined as void;
  private timer = 0;
  private left = 0;
  private failed = 0;
  private trying = false;
  private watching = new MutationObserver(() => this.widget?.isHidden && this.fall());

  constructor(
    private rendermime: IRenderMimeRegistry,
    private lives: Lives,
    private trans: TranslationBundle
  ) {
    super();
    this.addClass('jp-ethang-saved');
    this.node.append(this.saved);
  }

  async renderModel(model: IRenderMime.IMimeModel): Promise<void> {
    this.model = model;
    this.failed = 0;
    this.left = LOOKS;
    await this.tell(model);
    this.fall();
    this.look();
  }

  /** Where no widget stood, the output's own HTML says more than the views do, such as a run's answer. */
  private async tell(model: IRenderMime.IMimeModel): Promise<void> {
    this.html?.dispose();
    this.html = null;
    if (told(model)) {
      this.html = this.rendermime.createRenderer('text/html') as Widget & IRenderMime.IRenderer;
      this.insertWidget(0, this.html);
      this.node.prepend(this.html.node);
      await this.html.renderModel(model);
      const fold = this.html.node.querySelector('details');
      this.folded = fold?.querySelector('summary')?.textContent ?? '';
      fold?.remove(); // ours takes its place
    }
  }

  override dispose(): void {
    if (!this.isDisposed) {
      this.stop();
      this.watching.disconnect();
      this.away();
      super.dispose();
    }
  }

  protected override onAfterAttach(message: Message): void {
    super.onAfterAttach(message);
    this.look();
  }

  protected override onBeforeDetach(message: Message): void {
    this.stop();
    super.onBeforeDetach(message);
  }

  /** The comm of the widget beside the document; "" for none, or where the notebook is not trusted to run one. */
  private get comm(): string {
    const view = this.model?.data[WIDGET] as { model_id?: string } | undefined;
    return (this.model?.trusted && view?.model_id) || '';
  }

  /** Looks for the widget now and, while the output is on the page, a few times more. */
  private look(): void {
    this.stop();
    if (!this.comm || this.widget || !this.isAttached) {
      return;
    }
    this.left = LOOKS;
    void this.attempt();
    this.timer = window.setInterval(() => {
      if (this.widget || --this.left <= 0 || this.failed >= TRIES) {
        this.stop();
        if (!this.widget) {
          this.fall();
        }
      } else {
        void this.attempt();
      }
    }, EVERY);
  }

  private stop(): void {
    window.clearInterval(this.timer);
  }

  /** Shows the widget where it lives; an attempt that shows nothing leaves no trace. */
  private async attempt(): Promise<void> {
    const rendermime = registry(this);
    if (this.trying || this.widget || !rendermime?.getFactory(WIDGET) || !this.lives.knows(this.comm)) {
      return;
    }
    this.trying = true;
    const model = this.model!;
    const widget = rendermime.createRenderer(WIDGET) as Widget & IRenderMime.IRenderer;
    widget.hide();
    this.addWidget(widget);
    // A copy: the widgets' renderer empties the model id once its view is closed.
    const data = { [WIDGET]: { ...(model.data[WIDGET] as object) } };
    await Promise.race([
      widget.renderModel(rendermime.createModel({ data, trusted: true })).catch(() => undefined),
      new Promise(late => setTimeout(late, EVERY * 5))
    ]);
    this.trying = false;
    // Its errors are bare text; a view is an element.
    if (this.isDisposed || this.model !== model || !widget.node.childElementCount) {
      widget.dispose();
      if (!this.isDisposed && ++this.failed === TRIES) {
        this.fall();
      }
      return;
    }
    this.widget = widget;
    widget.show();
    this.away();
    this.away = () => undefined;
    this.saved.hidden = true;
    this.watching.observe(widget.node, { attributes: true, attributeFilter: ['class'] });
  }

  /** Shows what is saved. */
  private fall(): void {
    this.watching.disconnect();
    this.widget?.dispose();
    this.widget = null;
    this.away();
    this.saved.hidden = false;
    this.away = this.draw(this.model!);
  }

  private draw({ data, metadata }: IRenderMime.IMimeModel): () => void {
    const stored = data[MIME] as unknown as Stored;
    if (stored.version !== VERSION) {
      return this.say(
        this.trans.__('This view was saved by another version of ethang_nb, which this one cannot draw.'),
        data['text/plain'] as string | undefined
      );
    }
    if (stored.live !== undefined) {
      // A widget that was just made is not known at once.
      if (this.comm && this.left > 0 && !this.failed) {
        return this.say('');
      }
      // A notebook that joined another one's kernel later cannot draw its widgets; the panel can.
      return this.failed
        ? this.say(this.trans.__('The live view is at home in another notebook of this kernel; the side panel shows it too.'))
        : this.say(this.trans.__('The live view ended with its kernel; the run’s result stands below.'));
    }
    const doc = stored as unknown as Doc;
    const { view = 'context' } = (metadata[MIME] ?? {}) as { view?: string };
    const shown = { view, store: Store.saved(doc), ask: offline(doc) };
    return told(this.model!) ? this.fold(el => show(el, shown)) : show(this.saved, shown);
  }

  /** The views behind a line that opens them; drawn when they are opened first. */
  private fold(draw: (el: HTMLElement) => () => void): () => void {
    const [box, line, views] = ['details', 'summary', 'div'].map(tag => document.createElement(tag)) as [
      HTMLDetailsElement,
      HTMLElement,
      HTMLElement
    ];
    let away: (() => void) | undefined;
    line.textContent = this.folded || this.trans.__('The context as it stood at the end');
    box.append(line, views);
    box.addEventListener('toggle', () => (away ??= draw(views)));
    this.saved.replaceChildren(box);
    return () => {
      away?.();
      this.saved.replaceChildren();
    };
  }

  private say(text: string, plain?: string): () => void {
    const [said, below] = [<p class="jp-ethang-why">{text}</p>, plain ? <pre>{plain}</pre> : null];
    this.saved.classList.add('eth-live', 'jp-ethang-line');
    render([said, below], this.saved);
    return () => {
      this.saved.classList.remove('jp-ethang-line');
      render(null, this.saved);
    };
  }
}

/** Whether an output tells by itself, in HTML, more than a drawing of its document. */
function told(model: IRenderMime.IMimeModel): boolean {
  return 'text/html' in model.data && !(WIDGET in model.data);
}

/** The registry of the output area around a widget: each notebook has its own, and its widgets' renderer is there. */
function registry(widget: Widget): IRenderMimeRegistry | null {
  for (let around = widget.parent; around; around = around.parent) {
    const { rendermime } = around as Widget & { rendermime?: IRenderMimeRegistry };
    if (rendermime) {
      return rendermime;
    }
  }
  return null;
}
