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

const packed = deflateRawSync(readFileSync(`${folder}/page.js`), { level: 9, memLevel: 7 }).toString('base64');
writeFileSync(
  `${folder}/widget.js`,
  `const bytes = Uint8Array.from(atob("${packed}"), letter => letter.charCodeAt(0));
const text = await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"))).text();
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
