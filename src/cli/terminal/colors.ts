// ANSI colors.

const CODES = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33, cyan: 36 } as const

export type Colour = keyof typeof CODES
export type Paint = (colour: Colour, text: string) => string

type Output = { readonly isTTY?: boolean | undefined }

/** FORCE_COLOR wins, then NO_COLOR, then whether the output is a terminal with colors. */
export function wantsColour(output: Output, environment: NodeJS.ProcessEnv): boolean {
  const forced = environment['FORCE_COLOR']
  if (forced !== undefined) return forced !== '0' && forced !== 'false'
  if ((environment['NO_COLOR'] ?? '') !== '') return false
  return output.isTTY === true && environment['TERM'] !== 'dumb'
}

export function paintFor(isColoured: boolean): Paint {
  if (!isColoured) return (_, text) => text
  return (colour, text) => (text === '' ? '' : `\u001b[${CODES[colour]}m${text}\u001b[0m`)
}

export function hasColours(paint: Paint): boolean {
  return paint('bold', 'x') !== 'x'
}
