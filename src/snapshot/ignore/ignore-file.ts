// Parses an ignore file (.gitignore, info/exclude) as git does, byte by byte: it strips only the blanks that git strips, and
// truncates a line where git does.

export type IgnoreRule = {
  /** Without the `!`, the slash at the start and the slash at the end. Never empty. */
  readonly glob: string
  /** `!`: a matching path is included again. */
  readonly isNegated: boolean
  readonly isFolderOnly: boolean
  /** Matches the path relative to the file's folder; otherwise the name alone, at any depth. */
  readonly isAnchored: boolean
}

/** The rules in the order of the file. The text holds one character per byte. */
export function parseIgnoreFile(text: string): IgnoreRule[] {
  const rules: IgnoreRule[] = []
  for (const line of text.slice(text.startsWith(BOM) ? BOM.length : 0).split('\n')) {
    if (line.startsWith('#')) continue
    const rule = parseLine(trimBlanks(cString(line.endsWith('\r') ? line.slice(0, -1) : line)))
    if (rule !== undefined) rules.push(rule)
  }
  return rules
}

const BOM = '\u00ef\u00bb\u00bf'

function parseLine(line: string): IgnoreRule | undefined {
  const isNegated = line.startsWith('!')
  const isFolderOnly = line.endsWith('/')
  const pattern = line.slice(isNegated ? 1 : 0, isFolderOnly ? -1 : undefined)
  const isAnchored = pattern.includes('/')
  const glob = pattern.startsWith('/') ? pattern.slice(1) : pattern
  return glob === '' ? undefined : { glob, isNegated, isFolderOnly, isAnchored }
}

/** git handles a line as a C string, so it ends at a NUL. */
function cString(line: string): string {
  const nul = line.indexOf('\0')
  return nul === -1 ? line : line.slice(0, nul)
}

/** Removes trailing spaces, not tabs. An escaped space stays; the spaces after it are removed. */
function trimBlanks(line: string): string {
  let end = line.length
  while (line[end - 1] === ' ') end--
  let escapes = 0
  while (line[end - 1 - escapes] === '\\') escapes++
  return line.slice(0, end + (escapes % 2))
}
