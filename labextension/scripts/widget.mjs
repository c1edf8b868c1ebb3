/**
 * Builds the views into the Python package: `page.js` for saved pages, `widget.js` for widgets, and their one sheet.
 *
 * Every widget sends its module with its first message, and a notebook that keeps widget state stores it; so
 * `widget.js` is the same module compressed, unpacked where it is loaded: in the way anywidget itself loads modules.
 */
import { build } from 'esbuild';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { deflateRawSync } from 'node:zlib';
import { minify } from 'terser';

const folder = '../ethang_nb/static';
// The letters of Z85: none of them ends a string or a script. Five of them say four bytes; base64 would take a fifteenth more.
const LETTERS = '0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#';
const round4 = bytes => Math.ceil(bytes.length / 4) * 4;

function z85(bytes) {
  const whole = Buffer.alloc(round4(bytes));
  bytes.copy(whole);
  let text = '';
  for (let at = 0; at < whole.length; at += 4) {
    let four = whole.readUInt32BE(at);
    let five = '';
    for (let nth = 0; nth < 5; nth++) {
      five = LETTERS[four % 85] + five;
      four = Math.floor(four / 85);
    }
    text += five;
  }
  return text;
}

// Elements made by plain calls take less than those of the automatic runtime, and terser less than esbuild alone.
const { outputFiles } = await build({
  entryPoints: { page: 'src/widget.ts' },
  bundle: true,
  write: false,
  format: 'esm',
  target: 'es2022',
  // Here, since what tsconfig says of JSX goes before esbuild's own options.
  tsconfigRaw: { compilerOptions: { jsx: 'react', jsxFactory: 'h', jsxFragmentFactory: 'Fragment' } },
  inject: ['scripts/jsx.mjs'],
  minify: true,
  legalComments: 'none'
});
const { code } = await minify(outputFiles[0].text, { module: true, ecma: 2022, compress: { passes: 3, unsafe_arrows: true, keep_fargs: false, pure_getters: true } });
mkdirSync(folder, { recursive: true });
writeFileSync(`${folder}/page.js`, code);
await build({ entryPoints: { widget: 'src/views/views.css' }, bundle: true, minify: true, outdir: folder });

const packed = deflateRawSync(readFileSync(`${folder}/page.js`), { level: 9, memLevel: 7 });
writeFileSync(
  `${folder}/widget.js`,
  `const letters = "${LETTERS}", text85 = "${z85(packed)}", bytes = new DataView(new ArrayBuffer(${round4(packed)}));
for (let at = 0; at < text85.length; at += 5) {
  let four = 0;
  for (const letter of text85.slice(at, at + 5)) four = four * 85 + letters.indexOf(letter);
  bytes.setUint32((at / 5) * 4, four);
}
const whole = new Blob([bytes.buffer.slice(0, ${packed.length})]).stream();
const text = await new Response(whole.pipeThrough(new DecompressionStream("deflate-raw"))).text();
const url = URL.createObjectURL(new Blob([text], { type: "text/javascript" }));
const made = await import(url);
URL.revokeObjectURL(url);
export const { mount, views } = made;
export default made.default;
`
);
for (const name of ['page.js', 'widget.js', 'widget.css']) {
  console.log(`${name} ${readFileSync(`${folder}/${name}`).length} bytes`);
}
