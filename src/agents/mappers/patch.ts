// Patches as Codex and opencode give them to their tools.
import type { Fields } from '../../base/index.js'

const START = '*** Begin Patch'
const KEYS = ['patchText', 'patch', 'command', 'input']
const PATHS = /^\*\*\* (?:(?:Add|Update|Delete) File|Move to): (.+)$/gm
/** More than any label needs. The guard reads all of a patch. */
const MAX_CHARS = 50_000_000

export function isPatch(text: unknown): text is string {
  return typeof text === 'string' && text.startsWith(START)
}

/** The paths that a patch in the input of a tool names. */
export function patchedPaths(fields: Fields, maxChars = MAX_CHARS): string[] {
  return KEYS.map((key) => fields[key])
    .filter(isPatch)
    .flatMap((patch) => [...patch.slice(0, maxChars).matchAll(PATHS)])
    .map(([, path = '']) => path.trim())
}
