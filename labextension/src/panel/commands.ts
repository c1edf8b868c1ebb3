/** The commands of the palette. What they did is said in a notice; the panel need not be open. */
import { Dialog, InputDialog, Notification, showDialog } from '@jupyterlab/apputils';
import type { ServiceManager } from '@jupyterlab/services';
import type { TranslationBundle } from '@jupyterlab/translation';
import type { CommandRegistry } from '@lumino/commands';
import { DisposableSet, type IDisposable } from '@lumino/disposable';
import { Silent } from '../views/channel';
import { type Follower, watch } from './follow';
import { icon } from './icon';
import { lessons } from './lessons';

export const CommandIDs = {
  open: 'ethang:open',
  stop: 'ethang:stop',
  compact: 'ethang:compact',
  reseed: 'ethang:reseed',
  lesson: 'ethang:open-lesson'
} as const;

const PATIENCE = 3000; // ► milliseconds until a kernel that says nothing to Stop is called silent

export interface Surroundings {
  commands: CommandRegistry;
  services: ServiceManager.IManager;
  follower: Follower;
  trans: TranslationBundle;
}

/** In the palette a command says whose it is: people find it by that word. */
export function named(trans: TranslationBundle, label: string): (args: { isPalette?: unknown }) => string {
  return ({ isPalette }) => (isPalette ? trans.__('ethang: %1', label) : label);
}

/** Adds all but `open`, which belongs to the panel. */
export function addCommands({ commands, services, follower, trans }: Surroundings): IDisposable {
  const added = new DisposableSet();
  const add = (id: string, options: CommandRegistry.ICommandOptions) => added.add(commands.addCommand(id, options));
  const told = () => follower.link?.phase === 'open' && !!follower.link.store.doc;
  const running = () => told() && follower.link?.store.doc?.state === 'running';
  const alive = () => told() && follower.link?.store.status === 'live';

  add(CommandIDs.stop, {
    label: named(trans, trans.__('Stop the Run')),
    caption: trans.__('End the run of the active notebook’s session at its next step, even while its cell is busy'),
    isEnabled: running,
    execute: () => act(follower, trans, 'stop')
  });
  add(CommandIDs.compact, {
    label: named(trans, trans.__('Compact Now')),
    caption: trans.__('Ask for a cleanup of the context at the next step, whatever the fill'),
    isEnabled: alive,
    execute: () => act(follower, trans, 'compact')
  });
  add(CommandIDs.reseed, {
    label: named(trans, trans.__('Reseed: Start Again from the Core')),
    caption: trans.__('Rebuild the context from its core; the rest can be read again through its addresses'),
    isEnabled: alive,
    execute: () => act(follower, trans, 'reseed')
  });
  add(CommandIDs.lesson, {
    label: named(trans, trans.__('Open a Lesson…')),
    caption: trans.__('Open one of the notebooks that teach ethang_nb'),
    icon,
    execute: args => openLesson(commands, services, follower, trans, args.path as string | undefined)
  });

  // Palette, menus and toolbars ask again only when they are told to; a run changes the document 20 times a second.
  let before = '';
  const leave = watch(follower, () => {
    const now = `${running()} ${alive()}`;
    if (now !== before) {
      before = now;
      [CommandIDs.stop, CommandIDs.compact, CommandIDs.reseed].forEach(id => commands.notifyCommandChanged(id));
    }
  });
  added.add({ isDisposed: false, dispose: leave });
  return added;
}

async function act(follower: Follower, trans: TranslationBundle, what: 'stop' | 'compact' | 'reseed'): Promise<void> {
  const channel = follower.link?.channel;
  if (!channel) {
    Notification.warning(trans.__('The active kernel has no session of ethang_nb.'));
    return;
  }
  try {
    const { done, said } = await channel.ask(what, {}, what === 'stop' ? PATIENCE : undefined);
    Notification.info(done ?? said, { autoClose: 5000 });
  } catch (why) {
    const line = why instanceof Silent ? trans.__('The kernel does not hear this now: press ■ in the toolbar.') : null;
    Notification.warning(line ?? (why as Error).message, { autoClose: 8000 });
  }
}

async function openLesson(
  commands: CommandRegistry,
  services: ServiceManager.IManager,
  follower: Follower,
  trans: TranslationBundle,
  path?: string
): Promise<void> {
  const chosen = path ?? (await choose(await lessons(services.contents, follower.path), trans));
  if (chosen) {
    await commands.execute('docmanager:open', { path: chosen });
  }
}

async function choose(found: { path: string; title: string }[], trans: TranslationBundle): Promise<string | null> {
  if (!found.length) {
    await showDialog({
      title: trans.__('No lesson is here'),
      body: trans.__(
        'The lessons are the numbered notebooks in the folder “notebooks” of the ethang_nb repository. Start JupyterLab in a copy of it, or put that folder where this server can see it.'
      ),
      buttons: [Dialog.okButton({ label: trans.__('OK') })]
    });
    return null;
  }
  const titles = found.map(({ title }) => title);
  const { value } = await InputDialog.getItem({
    title: trans.__('Open a lesson'),
    label: trans.__('Each runs without a key and without a network.'),
    items: titles,
    okLabel: trans.__('Open')
  });
  return found[titles.indexOf(value ?? '')]?.path ?? null;
}
