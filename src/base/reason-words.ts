// The parts of a checkpoint's reason that code recognizes again. Reasons are not encrypted, unlike the metadata: a prune
// needs no key to keep prompts.

/** Begins the reason of a prompt's row. */
const PROMPT = 'You: '
/** Ends the reason of a rewind, undo or fork: the id of the checkpoint that it names. */
const REFERENCE = / \([bcdfghjklmnpqrstvwxz]{8}\)$/
/** Ends the reason of a call that changed only files that no checkpoint contains. */
const UNCAPTURED = / \(changed only (?:ignored files|files that are not saved): .*\)$/

export function promptReason(words: string): string {
  return `${PROMPT}${words}`
}

export function isPromptReason(reason: string | null): boolean {
  return reason?.startsWith(PROMPT) === true
}

export function withoutPromptMark(reason: string): string {
  return isPromptReason(reason) ? reason.slice(PROMPT.length) : reason
}

export function withoutReference(reason: string): string {
  return reason.replace(REFERENCE, '')
}

/** The reason in a form that can be quoted: without its own quotes and without the list of uncaptured files. */
export function quotableReason(reason: string): string {
  return REFERENCE.test(reason) ? reason.replaceAll('"', '') : reason.replace(UNCAPTURED, '')
}

const MAX_CALLS = 3

/** The reason of a checkpoint after these tool calls. */
export function callsReason(labels: readonly string[]): string {
  const more = labels.length - MAX_CALLS
  return labels.slice(0, MAX_CALLS).join('; ') + (more > 0 ? `; and ${more} more` : '')
}

/** The prompt of a reason in an encrypted store. */
export const HIDDEN_PROMPT = 'a prompt'
