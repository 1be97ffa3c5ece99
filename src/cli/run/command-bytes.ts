// Starts a command with its exact bytes. Node passes arguments and the environment as UTF-8, so a shell recreates names and
// values in other encodings from their bytes.
import { readFileSync } from 'node:fs'
import { bytesOfArgument } from '../args/argv-bytes.js'

export type Start = { readonly file: string; readonly args: readonly string[] }

const NOT_TEXT = /\p{Cs}/u

/** `words` in the form of argv-bytes.ts. */
export function startOf(words: readonly string[], variables = variablesToTheByte()): Start {
  const [file = '', ...args] = words
  if (variables.length === 0 && !words.some((word) => NOT_TEXT.test(word))) return { file, args }
  const given = words.filter((word) => !NOT_TEXT.test(word))
  let position = 0
  const lines = variables.map(({ name, value }) => [...assignment(name, value), `export ${name}`])
  const parts = words.map((word, at) => {
    if (!NOT_TEXT.test(word)) return `"\${${++position}}"`
    // Not exported, so the command does not see it; the name must be new, or the value would replace an exported one.
    const name = `savestate_word_${process.pid}_${at}`
    lines.push(assignment(name, bytesOfArgument(word)))
    return `"$${name}"`
  })
  const script = [...lines.flat(), `exec ${parts.join(' ')}`].join('\n')
  return { file: '/bin/sh', args: ['-c', script, 'savestate', ...given] }
}

type Variable = { readonly name: string; readonly value: string }

/** The variables whose bytes Node has lost; one character per byte. */
function variablesToTheByte(): readonly Variable[] {
  const lossy = Object.entries(process.env).filter(([, value]) => value?.includes('\ufffd'))
  if (lossy.length === 0 || process.platform !== 'linux') return []
  const lines = readFileSync('/proc/self/environ', 'latin1').split('\0')
  return lines.flatMap((line) => {
    const [name = '', ...rest] = line.split('=')
    const isLossy = lossy.some(([other]) => other === name)
    // A shell can set only these names.
    return isLossy && /^[A-Za-z_]\w*$/.test(name) ? [{ name, value: rest.join('=') }] : []
  })
}

/** The x protects line breaks at the end, which a shell would remove. */
function assignment(name: string, bytes: string): string[] {
  const octal = (byte: string) => `\\0${byte.charCodeAt(0).toString(8).padStart(3, '0')}`
  return [`${name}=$(printf %b '${bytes.replace(/[^]/g, octal)}x')`, `${name}=\${${name}%x}`]
}
