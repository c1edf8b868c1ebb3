/**
 * Lessons: notebooks of ethang_nb that lie where this server can open them.
 *
 * They are looked for with the server's own file list, in the places where a checkout or a copy has them: nothing has
 * to run for that, it works before any kernel is there, and what is offered can be opened. A wheel carries none.
 */
import { PathExt } from '@jupyterlab/coreutils';
import type { Contents } from '@jupyterlab/services';

export interface Lesson {
  path: string;
  title: string;
}

const NAME = /^\d\d_\w+\.ipynb$/;
const FOLDER = 'notebooks';

/** The lessons at the server's root, or beside, below or above `path`, in their order. */
export async function lessons(contents: Contents.IManager, path: string): Promise<Lesson[]> {
  const beside = PathExt.dirname(path);
  for (const folder of new Set(['', beside, PathExt.dirname(beside)])) {
    const files = await listed(contents, folder);
    // Only a folder that is listed is asked for, so that nothing is looked for in vain.
    const below = files.find(({ name, type }) => name === FOLDER && type === 'directory');
    const found = [...(await among(contents, files)), ...(below ? await among(contents, await listed(contents, below.path)) : [])];
    if (found.length) {
      return found;
    }
  }
  return [];
}

/** What lies in a folder; nothing where it may not be read. */
async function listed(contents: Contents.IManager, folder: string): Promise<Contents.IModel[]> {
  const model = await contents.get(folder, { content: true }).catch(() => null);
  return (model?.content as Contents.IModel[] | null) ?? [];
}

async function among(contents: Contents.IManager, files: Contents.IModel[]): Promise<Lesson[]> {
  const numbered = files.filter(({ name }) => NAME.test(name));
  const found = await Promise.all(
    numbered.map(async ({ path }) => lesson(path, await contents.get(path, { content: true }).catch(() => null)))
  );
  return found.filter(one => one !== null).sort((a, b) => (a.path < b.path ? -1 : 1));
}

interface Cell {
  cell_type: string;
  source: string | string[];
}

/** A numbered notebook that speaks of ethang, called after its first heading; null for somebody's own. */
export function lesson(path: string, model: Contents.IModel | null): Lesson | null {
  const cells: Cell[] = model?.content?.cells ?? [];
  const texts = cells.map(({ source }) => (typeof source === 'string' ? source : source.join('')));
  if (!texts.some(text => /\bethang(_nb)?\b/.test(text))) {
    return null;
  }
  const title = /^# +(.+)$/m.exec(texts[0] ?? '')?.[1] ?? '';
  const number = PathExt.basename(path).slice(0, 2);
  return { path, title: `${number} ${title || PathExt.basename(path)}` };
}
