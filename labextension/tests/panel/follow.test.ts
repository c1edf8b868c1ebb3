import { expect, test } from 'vitest';
import { Signal } from '@lumino/signaling';
import { FakeKernel, FakePlace, FakeSession, FakeTracker, settled } from './fakes';
import { Follower, watch } from '../../src/panel/follow';

class FakeShell {
  currentWidget: unknown = null;
  currentChanged = new Signal<this, { newValue: unknown }>(this);

  show(widget: unknown): void {
    this.currentWidget = widget;
    this.currentChanged.emit({ newValue: widget });
  }
}

function followed() {
  const [notebooks, consoles, shell] = [new FakeTracker(), new FakeTracker(), new FakeShell()];
  const follower = new Follower(notebooks as never, consoles as never, shell as never);
  return { notebooks, consoles, shell, follower };
}

function notebook(label: string, kernel: FakeKernel | null = new FakeKernel(label)): FakePlace {
  return new FakePlace(label, new FakeSession(kernel));
}

test('a notebook that is in front before us is followed', () => {
  const notebooks = new FakeTracker();
  notebooks.add(notebook('a'));
  const follower = new Follower(notebooks as never, null, null);
  expect(follower.situation.name).toBe('a');
  expect(follower.link).not.toBeNull();
});

test('it follows tabs, and each kernel has a link of its own', () => {
  const { notebooks, consoles, follower } = followed();
  const a = notebooks.add(notebook('a'));
  const first = follower.link;
  consoles.add(notebook('c'));
  expect(follower.situation.name).toBe('c');
  expect(follower.link).not.toBe(first);
  notebooks.show(a);
  expect(follower.link).toBe(first);
});

test('a file in front changes nothing', () => {
  const { notebooks, shell, follower } = followed();
  notebooks.add(notebook('a'));
  shell.show({ isDisposed: false });
  expect(follower.situation.name).toBe('a');
});

test('two notebooks on one kernel share a link, and one comm', async () => {
  const { notebooks, follower } = followed();
  const kernel = new FakeKernel('shared');
  kernel.announced = ['x'];
  notebooks.add(notebook('a', kernel));
  const link = follower.link;
  const second = new FakeKernel('shared');
  notebooks.add(notebook('b', second));
  await settled();
  expect(follower.link).toBe(link);
  expect([...kernel.of('comm_open'), ...second.of('comm_open')]).toHaveLength(1);
});

test('closing what is followed goes to what is left, else to nothing', () => {
  const { notebooks, follower } = followed();
  const [a, b] = [notebooks.add(notebook('a')), notebooks.add(notebook('b'))];
  notebooks.close(b);
  expect(follower.situation.name).toBe('a');
  notebooks.close(a);
  expect([follower.situation.name, follower.link]).toEqual([null, null]);
});

test('the comm of a kernel is closed with its last notebook', async () => {
  const { notebooks } = followed();
  const kernel = new FakeKernel();
  kernel.announced = ['x'];
  const a = notebooks.add(notebook('a', kernel));
  await settled();
  notebooks.close(a);
  expect(kernel.of('comm_close')).toHaveLength(1);
});

test('another kernel of the same notebook is another link; late words of the old one are not heard', async () => {
  const { notebooks, follower } = followed();
  const [old, next] = [new FakeKernel('old'), new FakeKernel('next')];
  old.announced = ['x'];
  const a = notebooks.add(notebook('a', old));
  await settled();
  const before = follower.link!;
  a.sessionContext.change(next);
  old.say({ t: 'frame', rev: 1, base: null, set: { name: 'late' } });
  expect(follower.link).not.toBe(before);
  expect([before.store.doc, follower.link!.store.doc]).toEqual([null, null]);
});

test('who watches is told of documents and of other kernels, and no more once he leaves', async () => {
  const { notebooks, follower } = followed();
  const kernel = new FakeKernel();
  kernel.announced = ['x'];
  let drawn = 0;
  const leave = watch(follower, () => drawn++);
  notebooks.add(notebook('a', kernel));
  await settled();
  const before = drawn;
  kernel.say({ t: 'frame', rev: 1, base: null, set: { name: 'a' } });
  expect(drawn).toBeGreaterThan(before);
  leave();
  const last = drawn;
  kernel.say({ t: 'frame', rev: 2, base: null, set: { name: 'a' } });
  kernel.turn('restarting');
  expect(drawn).toBe(last);
});
