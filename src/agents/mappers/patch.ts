// Patches in the inputs of tools of Codex and opencode.
import type { Fields } from '../../base/index.js'

const START = '*** Begin Patch'
const KEYS = ['patchText', 'patch', 'command', 'input']
const PATHS = /^\*\*\* (?:(?:Add|Update|Delete) File|Move to): (.+)$/gm
/** The guard reads whole patches; labels need less. */
const MAX_CHARS = 50_000_000

export function isPatch(text: unknown): text is string {
  return typeof text === 'string' && text.startsWith(START)
}

export function patchedPaths(fields: Fields, maxChars = MAX_CHARS): string[] {
  return KEYS.map((key) => fields[key])
    .filter(isPatch)
    .flatMap((patch) => [...patch.slice(0, maxChars).matchAll(PATHS)])
    .map(([, path = '']) => path.trim())
}
