// Agents add text of their own to the user's prompt, in tags: reminders, the environment, the output of commands. A reader
// wants to see what the user has written.
import { note, type RawPart, withText } from './raw-item.js'

/** The tags of an agent. */
export type InjectedTags = {
  /** Text of the agent's program. */
  readonly notes: readonly string[]
  /** Tags around the user's own words. */
  readonly prompts: readonly string[]
}

/** The user's words as a prompt, the text in tags as notes. A tag that is not closed is ordinary text. */
export function splitPrompt(text: string, tags: InjectedTags): readonly RawPart[] {
  const open = new RegExp(
    `<(${[...tags.notes, ...tags.prompts].join('|')})(?: [^<>]{0,200})?>`,
    'g',
  )
  // A tag that was not found once is not searched again, so the time stays linear.
  const unclosed = new Set<string>()
  const notes: RawPart[] = []
  const words: string[] = []
  const command: string[] = []
  let done = 0
  for (;;) {
    const found = open.exec(text)
    if (found === null) break
    const tag = found[1] ?? ''
    const from = open.lastIndex
    const end = unclosed.has(tag) ? -1 : text.indexOf(`</${tag}>`, from)
    if (end === -1) {
      unclosed.add(tag)
      continue
    }
    words.push(text.slice(done, found.index))
    const inner = text.slice(from, end).trim()
    if (tags.prompts.includes(tag)) words.push(inner)
    else if (tag === 'command-name' || tag === 'command-args') command.push(inner)
    // Repeats the name of the command.
    else if (tag !== 'command-message') notes.push(note(inner))
    done = end + tag.length + 3
    open.lastIndex = done
  }
  words.push(text.slice(done))
  const prompt = words
    .map((piece) => piece.trim())
    .filter((piece) => piece !== '')
    .join('\n\n')
  return withText([note(command.join(' ').trim()), { kind: 'prompt', text: prompt }, ...notes])
}

export const CLAUDE_TAGS: InjectedTags = {
  notes: [
    'system-reminder',
    'command-name',
    'command-message',
    'command-args',
    'local-command-stdout',
    'local-command-stderr',
    'local-command-caveat',
    'bash-input',
    'bash-stdout',
    'bash-stderr',
    'task-notification',
    'user-prompt-submit-hook',
    'ide_opened_file',
    'ide_selection',
    'new-diagnostics',
  ],
  prompts: [],
}

export const CODEX_TAGS: InjectedTags = {
  notes: [
    'environment_context',
    'user_instructions',
    'permissions instructions',
    'collaboration_mode',
    'INSTRUCTIONS',
    'turn_aborted',
    'skill',
    'subagent_notification',
    'user_shell_command',
  ],
  prompts: [],
}

export const CURSOR_TAGS: InjectedTags = {
  notes: [
    'system_reminder',
    'system-reminder',
    'timestamp',
    'user_info',
    'git_status',
    'rules',
    'attached_files',
    'additional_data',
    'open_and_recently_viewed_files',
    'agent_transcripts',
    'agent_skills',
  ],
  prompts: ['user_query'],
}

export const GEMINI_TAGS: InjectedTags = {
  notes: ['session_context', 'hook_context'],
  prompts: [],
}

export const CLINE_TAGS: InjectedTags = {
  notes: ['environment_details', 'explicit_instructions'],
  prompts: ['task', 'user_input', 'user_message', 'feedback'],
}
