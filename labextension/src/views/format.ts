/**
 * Numbers and texts as people read them: the same rules as `ethang_nb/views/numbers.py` and `plain.py`.
 *
 * Everything a view shows from outside passes through `visible` or `line`; no view formats a number by itself.
 * `tests/hostile.json` and `tests/numbers.json` hold both sides to the same results.
 */

/** `3284` is "3,284". */
export function grouped(value: number): string {
  return String(value).replace(/\B(?=(\d{3})+$)/g, ',');
}

/** Per mille as percent with one decimal: `684` is "68.4 %". */
export function percent(value: number): string {
  const size = Math.abs(value);
  return `${value < 0 ? '-' : ''}${grouped(Math.floor(size / 10))}.${size % 10} %`;
}

/** `part` of `whole`, rounded down; 0 of nothing is 0. */
export function perMille(part: number, whole: number): number {
  return whole ? Math.floor((part * 1000) / whole) : 0;
}

/** `part` of `whole` as percent with one decimal. */
export function share(part: number, whole: number): string {
  return percent(perMille(part, whole));
}

/** A number with its noun: "1 segment", "2 segments"; `many` is the plural where it takes more than an s. */
export function count(value: number, one: string, many = `${one}s`): string {
  return `${grouped(value)} ${value === 1 ? one : many}`;
}

/** Tokens with their unit: "1 token", "3,284 tokens". */
export function tokens(value: number): string {
  return count(value, 'token');
}

/** Places by number: "step 5", "steps 7, 10, 13 and 4 more". */
export function numbered(values: readonly number[], one: string, most = 12): string {
  const rest = values.length > most ? ` and ${grouped(values.length - most)} more` : '';
  return `${one}${values.length === 1 ? '' : 's'} ${values.slice(0, most).map(grouped).join(', ')}${rest}`;
}

/** `text` with a capital first letter. */
export function opened(text: string): string {
  const [first = ''] = text;
  return first.toUpperCase() + text.slice(first.length);
}

// Control, format, surrogate, line and paragraph separators; tags and variation selectors that carry unseen text.
// Joiners stay (parts of words in Persian and Hindi, and of emoji), and so do line ends and tabs.
const HIDDEN = /(?![\n\t\u200c\u200d])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\u{e0000}-\u{e01ff}]/gu;
const SPACES = /[ \t\r\n\f\v]+/g;
/** White space at the end or the start, as Python's `strip` sees it. */
const BLANK = '(?:(?!\\ufeff)[\\s\\x1c-\\x1f\\x85])+';
const ENDS = new RegExp(`^${BLANK}|${BLANK}$`, 'g');
const END = new RegExp(`${BLANK}$`);

/** `text` with every control, bidi and other invisible character as an escape; line ends and tabs stay. */
export function visible(text: string): string {
  return text.replace(HIDDEN, char => {
    const code = char.codePointAt(0)!;
    const [mark, digits] = code < 0x100 ? ['x', 2] : code < 0x10000 ? ['u', 4] : ['U', 8];
    return `\\${mark}${code.toString(16).padStart(digits as number, '0')}`;
  });
}

/** `text` on one line, made visible, at most `limit` characters long (0: any), its end shown by "…". */
export function line(text: string, limit = 0): string {
  const part = limit ? first(text, 4 * limit + 64) : text; // a title may be a megabyte
  const said = visible(part.replace(SPACES, ' ').replace(ENDS, ''));
  return limit ? clip(said, limit) : said;
}

/** At most `limit` characters of `text`, its end shown by "…". */
export function clip(text: string, limit: number): string {
  return text.length <= limit || first(text, limit) === text
    ? text
    : `${first(text, limit - 1).replace(END, '')}…`;
}

/** The first `size` characters; one of two UTF-16 units counts once, as in Python. */
function first(text: string, size: number): string {
  return text.length <= size ? text : [...text.slice(0, 2 * size)].slice(0, size).join('');
}
