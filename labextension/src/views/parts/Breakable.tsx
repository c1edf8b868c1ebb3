/** Text from outside that may wrap where a path or an address may. */

/** `text` with a place to wrap where `breakable` of markup.py lets it. It must have been made visible before. */
export function Breakable({ text }: { text: string }) {
  const parts = text.split(/(?<=\w\/)(?=\w)|(?<=\w)(?=[#@]\w)/);
  return parts.map((part, at) => [at > 0 && <wbr />, part]);
}
