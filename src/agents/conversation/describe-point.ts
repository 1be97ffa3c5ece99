// The point that a conversation goes back to, in words.
import type { Conversation } from './conversation.js'

/** `before you asked "Fix the login"`. `show` makes text of others safe for where it is printed. */
export function describePoint(
  { kind, prompt, tool }: Pick<Conversation, 'kind' | 'prompt' | 'tool'>,
  show: (text: string) => string,
): string {
  if (kind === 'before-turn')
    return prompt === null ? 'before the prompt' : `before you asked "${show(prompt)}"`
  if (kind === 'then') return 'then'
  const when = kind === 'before-call' ? 'before' : 'after'
  return tool === null ? `${when} the call` : `${when} ${show(tool)}`
}
