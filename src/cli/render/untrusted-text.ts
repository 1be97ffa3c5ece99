// Settings in the project's own files that have no effect until the user trusts these files.
import type { UntrustedFile } from '../../index.js'
import { printableLine } from '../terminal/escape.js'

const MAX_ASKS = 3
const MAX_WIDTH = 200

/** One line; undefined if the files ask for nothing. `command` is how the user confirms them. */
export function untrustedLine(
  files: readonly UntrustedFile[],
  command = 'savestate config trust',
): string | undefined {
  if (files.length === 0) return undefined
  const parts = files.map(({ file, asks }) => `${file} asks for ${asksText(asks)}`)
  return `${parts.join(', ')}: not in effect until you confirm it with \`${command}\`.`
}

function asksText(asks: readonly string[]): string {
  const more = asks.length - MAX_ASKS
  const shown = asks.slice(0, MAX_ASKS).map((ask) => printableLine(ask.slice(0, MAX_WIDTH)))
  return shown.join(', ') + (more > 0 ? ` and ${more} more` : '')
}
