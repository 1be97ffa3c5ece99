// The few classes of tokens that the page colors. The highlighter has about 70 kinds; most of them look the same here.

/** A token's class is its index. The stylesheet has a class `syntax-<name>` for each but the first. */
export const TOKEN_CLASSES = [
  'plain',
  'keyword',
  'string',
  'comment',
  'number',
  'function',
  'type',
] as const

type TokenClass = (typeof TOKEN_CLASSES)[number]
const KINDS: Readonly<Record<Exclude<TokenClass, 'plain'>, string>> = {
  keyword: 'keyword preproc tag',
  string: 'string text.literal link_uri',
  comment: 'comment',
  number: 'boolean number constant',
  function: 'attribute function selector title',
  type: 'constructor enum property.json_key type variant',
}
const CLASS_OF = new Map(
  Object.entries(KINDS).flatMap(([name, kinds]) =>
    kinds.split(' ').map((kind) => [kind, TOKEN_CLASSES.findIndex((one) => one === name)] as const),
  ),
)

/** `name`: a kind of the highlighter, such as `keyword.control`. */
export function tokenClass(name: string): number {
  return CLASS_OF.get(name) ?? CLASS_OF.get(name.replace(/\..*$/, '')) ?? 0
}

const NAMES: Readonly<Record<string, string>> = {
  dockerfile: 'dockerfile',
  makefile: 'makefile',
  justfile: 'justfile',
  codeowners: 'codeowners',
  'cmakelists.txt': 'cmake',
  '.bashrc': 'bash',
  '.zshrc': 'bash',
}

/** The name that the highlighter is asked for: it knows languages by their file extensions. */
export function languageOf(path: string): string {
  const name = path.slice(path.lastIndexOf('/') + 1).toLowerCase()
  return NAMES[name] ?? (name.includes('.') ? name.slice(name.lastIndexOf('.') + 1) : '')
}
