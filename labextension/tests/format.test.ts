import { expect, test } from 'vitest';
import { count, grouped, line, numbered, opened, percent, share, visible } from '../src/views/format';
import table from './hostile.json';

test('hostile text is made visible as in Python', () => {
  for (const row of table.texts) {
    expect([visible(row.text), line(row.text, row.limit)]).toEqual([row.visible, row.line]);
  }
});

test('numbers are said as in Python', () => {
  for (const row of table.numbers) {
    const said = [grouped(row.value), percent(row.value), count(row.value, 'token')];
    expect(said).toEqual([row.grouped, row.percent, row.counted]);
  }
  for (const row of table.shares) {
    expect(share(row.part, row.whole)).toBe(row.share);
  }
  for (const row of table.places) {
    expect(numbered(row.values, 'step', row.most)).toBe(row.numbered);
  }
});

test('a sentence opens with a capital, whatever its first letter is made of', () => {
  expect([opened('cleanup'), opened(''), opened('\u{1f600} x')]).toEqual(['Cleanup', '', '\u{1f600} x']);
});
