// The arguments to the byte. Node decodes argv as UTF-8 and replaces other bytes with U+FFFD, so a file name in another
// encoding would be lost. Here each such byte becomes a lone surrogate (U+DC80–U+DCFF, as in Python), which decoded text
// never contains. `bytesOfArgument` is the reverse.
import { readFileSync } from 'node:fs'

/** The arguments after the program's name. */
export function rawArguments(): readonly string[] {
  const given = process.argv.slice(2)
  if (process.platform !== 'linux' || !given.some((text) => text.includes('\ufffd'))) return given
  const raw = readFileSync('/proc/self/cmdline', 'latin1').split('\0').slice(0, -1)
  return given.length === 0 ? [] : raw.slice(-given.length).map(decodeArgument)
}

// biome-ignore format: one alternative per line
const SEQUENCE = new RegExp(
  [
    '[\\xc2-\\xdf][\\x80-\\xbf]',
    '\\xe0[\\xa0-\\xbf][\\x80-\\xbf]',
    '[\\xe1-\\xec\\xee\\xef][\\x80-\\xbf]{2}',
    '\\xed[\\x80-\\x9f][\\x80-\\xbf]',
    '\\xf0[\\x90-\\xbf][\\x80-\\xbf]{2}',
    '[\\xf1-\\xf3][\\x80-\\xbf]{3}',
    '\\xf4[\\x80-\\x8f][\\x80-\\xbf]{2}',
    '[\\x80-\\xff]',
  ].join('|'),
  'g',
)

/** Takes one character per byte. */
export function decodeArgument(bytes: string): string {
  return bytes.replace(SEQUENCE, (sequence) =>
    sequence.length === 1
      ? String.fromCharCode(0xdc00 + sequence.charCodeAt(0))
      : Buffer.from(sequence, 'latin1').toString('utf8'),
  )
}

/** Returns one character per byte. */
export function bytesOfArgument(text: string): string {
  return text.replace(/[^\0-\x7f]/gu, (char) => {
    const code = char.codePointAt(0) ?? 0
    return code >= 0xdc80 && code <= 0xdcff
      ? String.fromCharCode(code - 0xdc00)
      : Buffer.from(char, 'utf8').toString('latin1')
  })
}
