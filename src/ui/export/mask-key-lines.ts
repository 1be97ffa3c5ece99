// Masks private keys in patches. Each line of a patch is a text of its own, and most lines of a key do not look like a secret.
import type { FilePatch } from '../../internal.js'

const BEGIN = /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/
const END = /-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/
/** Base64 after the mark of the patch. */
const KEY_LINE = /^[ +-]\s*[A-Za-z0-9+/=]+\s*$/
const MASK = '••••••'

/** The number of lines and their marks stay. A hunk may begin or end within a key. */
export function maskKeyLines(patch: FilePatch): FilePatch {
  const hunks = patch.hunks.map((hunk) => ({ ...hunk, lines: maskLines(hunk.lines) }))
  return { ...patch, hunks }
}

function maskLines(lines: readonly string[]): readonly string[] {
  const masked: string[] = []
  let isInKey = false
  let hasEnd = false
  for (const [n, line] of lines.entries()) {
    const isEdge = BEGIN.test(line) || END.test(line)
    if (isEdge) {
      // The end of a key whose begin is above the hunk.
      if (!isInKey && !BEGIN.test(line)) maskBackwards(masked)
      isInKey = BEGIN.test(line) && !END.test(line)
      hasEnd = isInKey && lines.slice(n + 1).some((later) => END.test(later))
    } else if (isInKey && !hasEnd && !KEY_LINE.test(line)) isInKey = false
    masked.push(isInKey && !isEdge ? maskLine(line) : line)
  }
  return masked
}

function maskBackwards(lines: string[]): void {
  for (let n = lines.length - 1; n >= 0 && KEY_LINE.test(lines[n] ?? ''); n -= 1)
    lines[n] = maskLine(lines[n] ?? '')
}

function maskLine(line: string): string {
  return line.slice(0, 1) + MASK
}
