import { nullTranslator } from '@jupyterlab/translation';
import { expect, test } from 'vitest';
import { settled } from './fakes';
import { lesson, lessons } from '../../src/panel/lessons';
import type { Phase } from '../../src/panel/link';
import { reason, type Situation } from '../../src/panel/reason';
import { Chosen, DEFAULTS } from '../../src/panel/settings';
import { long, short } from '../../src/panel/status';
import { docs } from '../drawing';

const trans = nullTranslator.load('ethang_nb');
const LIVE: Situation = { name: 'a', kernel: true, starting: false, phase: 'open', sources: 1, drawn: true };

test('every way to see nothing has a sentence of its own', () => {
  const phases: Phase[] = ['asking', 'absent', 'opening', 'restarted', 'dead', 'disconnected', 'unloaded'];
  const said = [
    reason({ ...LIVE, name: null }, trans),
    reason({ ...LIVE, kernel: false, phase: null }, trans),
    reason({ ...LIVE, starting: true, phase: 'asking' }, trans),
    reason({ ...LIVE, sources: 0, drawn: false }, trans),
    reason({ ...LIVE, drawn: false }, trans),
    ...phases.map(phase => reason({ ...LIVE, phase }, trans))
  ];
  expect(said.every(Boolean)).toBe(true);
  expect(new Set(said).size).toBe(said.length);
});

test('what to type survives the translation as it must be typed', () => {
  expect(reason({ ...LIVE, phase: 'absent' }, trans)).toContain('`%load_ext ethang_nb`');
  expect(reason({ ...LIVE, sources: 0, drawn: false }, trans)).toContain('`%%ethang --window 6000`');
});

test('a live view needs no reason', () => {
  expect(reason(LIVE, trans)).toBe('');
});

test('the status item is short, and says the rest in its tooltip', () => {
  const doc = { ...docs.small(), step: 23 };
  doc.budget = { ...doc.budget, fill: 684 };
  expect(short(doc)).toBe('ethang 68.4 % · step 23');
  expect(short({ ...doc, step: 0 })).toBe('ethang 68.4 %');
  expect(long({ ...doc, name: 'a\u202eb' }, trans)).toContain('a\\u202eb');
});

test('without a registry, and with one that fails, the defaults hold', async () => {
  expect((await Chosen.of(null, 'x')).now).toEqual(DEFAULTS);
  const failing = { load: () => Promise.reject(new Error('no schema')) };
  expect((await Chosen.of(failing as never, 'x')).now).toEqual(DEFAULTS);
});

test('the defaults are those of the schema', async () => {
  const { default: schema } = await import('../../schema/panel.json');
  const given = Object.entries(schema.properties).map(([name, { default: value }]) => [name, value]);
  expect(Object.fromEntries(given)).toEqual(DEFAULTS);
});

const BOOK = { cells: [{ cell_type: 'markdown', source: ['# A first session\n', '\n', 'With ethang_nb.'] }] };

function contents(folders: Record<string, Record<string, object | 'directory'>>) {
  const asked: string[] = [];
  const get = (path: string) => {
    asked.push(path);
    const folder = folders[path];
    if (folder) {
      const content = Object.entries(folder).map(([name, what]) => ({
        name,
        path: path ? `${path}/${name}` : name,
        type: what === 'directory' ? 'directory' : 'notebook'
      }));
      return Promise.resolve({ content });
    }
    const [name, ...above] = path.split('/').reverse();
    const found = folders[above.reverse().join('/')]?.[name!];
    return found ? Promise.resolve({ content: found }) : Promise.reject(new Error(`404 ${path}`));
  };
  return { asked, get: get as never };
}

test('lessons are found in notebooks/ of the root, by their numbers and what they speak of', async () => {
  const mine = { cells: [{ cell_type: 'code', source: 'print(1)' }] };
  const shelf = contents({
    '': { notebooks: 'directory', '01_own.ipynb': mine },
    notebooks: { '02_b.ipynb': BOOK, '01_a.ipynb': BOOK, '03_own.ipynb': mine, 'notes.ipynb': BOOK }
  });
  expect(await lessons(shelf as never, '')).toEqual([
    { path: 'notebooks/01_a.ipynb', title: '01 A first session' },
    { path: 'notebooks/02_b.ipynb', title: '02 A first session' }
  ]);
});

test('lessons are found beside the notebook at work, and nothing is asked for in vain', async () => {
  const shelf = contents({ '': { repo: 'directory' }, 'repo/notebooks': { '01_a.ipynb': BOOK } });
  expect(await lessons(shelf as never, 'repo/notebooks/01_a.ipynb')).toHaveLength(1);
  const none = contents({ '': {} });
  expect(await lessons(none as never, '')).toEqual([]);
  expect(none.asked).toEqual(['']);
  await settled();
});

test('a notebook that cannot be read is no lesson', () => {
  expect(lesson('01_a.ipynb', null)).toBeNull();
});
