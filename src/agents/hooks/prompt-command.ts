// Recognizes a prompt that is one of our commands, such as `savestate undo`: the hook carries it out, and the prompt never
// reaches the model. Pure. docs/decisions/0044-prompt-commands.md says who can write such a prompt.
import { commandBehind, effectOf } from '../../base/index.js'
import type { AgentEvent } from '../mappers/event.js'
import { MAPPERS } from '../mappers/mappers.js'

const MAX_CHARS = 200

/** A number, an id, or a range of them. Words of a language have vowels, so `savestate undo that` is for the model. */
const POSITION = /^(?:\d+|[bcdfghjklmnpqrstvwxz]{4,})(?:\.\.(?:\d+|[bcdfghjklmnpqrstvwxz]{4,}))?$/
const NAME = /^[\p{L}\p{N}_][\p{L}\p{N}._:@/-]*$/u

/** The commands, and the checkpoints that each of them takes. */
const COMMANDS: Readonly<Record<string, { readonly least: number; readonly ref: RegExp } | null>> =
  {
    rewind: { least: 1, ref: NAME },
    undo: { least: 0, ref: POSITION },
    redo: null,
    list: null,
    status: null,
  }
const OPTION =
  /^(?:-n|-n\d+|--limit|--limit=\d+|--before|--both|--conversation|--dry-run|-y|--yes)$/

/** The words after `savestate`; undefined if the prompt is for the model. */
export function parsePromptCommand(prompt: string): readonly string[] | undefined {
  const text = prompt.trim()
  if (text.length > MAX_CHARS || !/^savestate [^\r\n]+$/.test(text)) return undefined
  const words = text.split(/[ \t]+/).slice(1)
  const [command = '', ...others] = words
  const name = commandBehind(command)
  if (!Object.hasOwn(COMMANDS, name)) return undefined
  const refs = others.filter(
    (word, index) => !OPTION.test(word) && !isNumberOf(others[index - 1], word),
  )
  const takes = COMMANDS[name] ?? { least: 0, ref: undefined }
  if (refs.length < takes.least || refs.length > (takes.ref === undefined ? 0 : 1)) return undefined
  return refs.every((ref) => takes.ref?.test(ref)) ? words : undefined
}

/** The command of an event; undefined for every other event and prompt, and unless the user wrote it. */
export function commandOf(event: AgentEvent): readonly string[] | undefined {
  if (event.type !== 'turn-start' || event.isMachine === true || event.agentId !== undefined)
    return undefined
  if (!MAPPERS[event.agent].canEndPrompt) return undefined
  return parsePromptCommand(event.prompt)
}

/** The command of a text that an agent may not send as a prompt, because it changes files; undefined for any other. */
export function userCommand(text: string): string | undefined {
  const [command, ...others] = parsePromptCommand(text) ?? []
  if (command === undefined) return undefined
  const has = (option: string) => others.includes(`--${option}`)
  return effectOf({ command, action: others[0], has }) === 'reads' ? undefined : command
}

function isNumberOf(before: string | undefined, word: string): boolean {
  return (before === '-n' || before === '--limit') && /^\d+$/.test(word)
}
