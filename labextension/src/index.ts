/** The plugins: what follows the kernels, and on it the panel, the status item, the commands and the saved views. */
import { ILabShell, ILayoutRestorer, type JupyterFrontEnd, type JupyterFrontEndPlugin } from '@jupyterlab/application';
import { ICommandPalette } from '@jupyterlab/apputils';
import { IConsoleTracker } from '@jupyterlab/console';
import { INotebookTracker } from '@jupyterlab/notebook';
import { IRenderMimeRegistry } from '@jupyterlab/rendermime';
import { ISettingRegistry } from '@jupyterlab/settingregistry';
import { IStatusBar } from '@jupyterlab/statusbar';
import { ITranslator, nullTranslator, type TranslationBundle } from '@jupyterlab/translation';
import { addCommands, CommandIDs, named } from './panel/commands';
import { Follower, IFollower, watch } from './panel/follow';
import { icon } from './panel/icon';
import { addRenderer } from './panel/mime';
import { ContextPanel, PANEL_ID } from './panel/panel';
import { Chosen } from './panel/settings';
import { FillItem } from './panel/status';

const DOMAIN = 'ethang_nb';
const CATEGORY = 'ethang';
const SETTINGS = 'ethang-nb:panel';

function words(translator: ITranslator | null): TranslationBundle {
  return (translator ?? nullTranslator).load(DOMAIN);
}

const kernels: JupyterFrontEndPlugin<Follower> = {
  id: 'ethang-nb:kernels',
  description: 'Follows the active notebook or console, and speaks with kernels that have ethang_nb loaded.',
  autoStart: true,
  provides: IFollower,
  requires: [INotebookTracker],
  optional: [IConsoleTracker, ILabShell],
  activate: (_: JupyterFrontEnd, notebooks: INotebookTracker, consoles: IConsoleTracker | null, shell: ILabShell | null) => {
    const follower = new Follower(notebooks, consoles, shell);
    // A page that goes says so, or the kernel would go on sending to it.
    window.addEventListener('pagehide', event => event.persisted || follower.dispose());
    return follower;
  }
};

const panel: JupyterFrontEndPlugin<void> = {
  id: SETTINGS,
  description: "A side panel with the context window of the active notebook's agent.",
  autoStart: true,
  requires: [IFollower],
  optional: [ITranslator, ISettingRegistry, ICommandPalette, ILayoutRestorer],
  activate: async (
    { commands, restored, shell }: JupyterFrontEnd,
    follower: Follower,
    translator: ITranslator | null,
    registry: ISettingRegistry | null,
    palette: ICommandPalette | null,
    restorer: ILayoutRestorer | null
  ) => {
    const trans = words(translator);
    const widget = new ContextPanel(follower, trans);
    const open = () => shell.activateById(PANEL_ID);
    commands.addCommand(CommandIDs.open, {
      label: named(trans, trans.__('Show the Context Window')),
      caption: trans.__('Show what is in the context window of the active notebook’s agent (ethang)'),
      icon,
      execute: open
    });
    palette?.addItem({ command: CommandIDs.open, category: CATEGORY, args: { isPalette: true } });
    restorer?.add(widget, PANEL_ID);
    const chosen = await Chosen.of(registry, SETTINGS);
    const place = () => {
      const { side } = chosen.now;
      if (![...shell.widgets(side)].includes(widget)) {
        const seen = widget.isVisible;
        shell.add(widget, side, { rank: 700, type: 'ethang' });
        if (seen) {
          open();
        }
      }
    };
    chosen.follow(place);
    // A layout that was stored before the setting changed puts it back where it was.
    void restored.then(place);
    let ran: string | undefined;
    watch(follower, () => {
      const state = follower.link?.store.doc?.state;
      if (state === 'running' && ran !== undefined && ran !== state && chosen.now.openOnRun) {
        open();
      }
      ran = state ?? '';
    });
  }
};

const status: JupyterFrontEndPlugin<void> = {
  id: 'ethang-nb:status',
  description: 'Says in the status bar how full the context window is.',
  autoStart: true,
  requires: [IFollower],
  optional: [IStatusBar, ITranslator, ISettingRegistry],
  activate: async (
    { commands }: JupyterFrontEnd,
    follower: Follower,
    bar: IStatusBar | null,
    translator: ITranslator | null,
    registry: ISettingRegistry | null
  ) => {
    if (!bar) {
      return; // Notebook 7 has none
    }
    const item = new FillItem(follower, words(translator), () => void commands.execute(CommandIDs.open));
    const { activeStateChanged } = item;
    bar.registerStatusItem('ethang-nb:status', {
      item,
      align: 'left',
      rank: 60,
      isActive: () => item.isActive(),
      activeStateChanged
    });
    const chosen = await Chosen.of(registry, SETTINGS);
    chosen.follow(() => item.want(chosen.now.statusItem));
  }
};

const actions: JupyterFrontEndPlugin<void> = {
  id: 'ethang-nb:commands',
  description: 'Commands that act on the session of the active notebook, and one that opens lessons.',
  autoStart: true,
  requires: [IFollower],
  optional: [ITranslator, ICommandPalette],
  activate: (
    { commands, serviceManager }: JupyterFrontEnd,
    follower: Follower,
    translator: ITranslator | null,
    palette: ICommandPalette | null
  ) => {
    addCommands({ commands, services: serviceManager, follower, trans: words(translator) });
    for (const command of [CommandIDs.stop, CommandIDs.compact, CommandIDs.reseed, CommandIDs.lesson]) {
      palette?.addItem({ command, category: CATEGORY, args: { isPalette: true } });
    }
  }
};

const mime: JupyterFrontEndPlugin<void> = {
  id: 'ethang-nb:mime',
  description: 'Draws the views that a notebook has saved.',
  autoStart: true,
  requires: [IRenderMimeRegistry, IFollower],
  optional: [ITranslator],
  activate: (_: JupyterFrontEnd, rendermime: IRenderMimeRegistry, { links }: Follower, translator: ITranslator | null) =>
    addRenderer(rendermime, links, words(translator))
};

export default [kernels, panel, status, actions, mime];
