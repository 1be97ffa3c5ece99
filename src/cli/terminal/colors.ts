// ANSI colors.

const CODES = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33, cyan: 36 } as const

export type Color = keyof typeof CODES
export type Paint = (color: Color, text: string) => string

type Output = { readonly isTTY?: boolean | undefined }

/** FORCE_COLOR wins, then NO_COLOR, then whether the output is a terminal with colors. */
export function wantsColor(output: Output, environment: NodeJS.ProcessEnv): boolean {
  const forced = environment['FORCE_COLOR']
  if (forced !== undefined) return forced !== '0' && forced !== 'false'
  if ((environment['NO_COLOR'] ?? '') !== '') return false
  return output.isTTY === true && environment['TERM'] !== 'dumb'
}

export function paintFor(isColored: boolean): Paint {
  if (!isColored) return (_, text) => text
  return (color, text) => (text === '' ? '' : `\u001b[${CODES[color]}m${text}\u001b[0m`)
}

export function hasColors(paint: Paint): boolean {
  return paint('bold', 'x') !== 'x'
}
