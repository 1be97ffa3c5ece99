// The message and the content of a commit. Prompts are texts of others: they must not become headers of a mail, end the message early
// (`---`), or reveal a secret.
import { maskSecrets, UNSAFE_CHARACTERS, withoutPromptMark } from '../../base/index.js'
import { type FilesCheckpoint, type ObjectId, SavestateError } from '../../model/index.js'
import { isPromptRow, promptOf, type StepGroup } from './group-steps.js'

const MAX_SUBJECT = 72
const FIELDS = [
  'subject',
  'body',
  'prompt',
  'reason',
  'name',
  'agent',
  'checkpoint',
  'date',
] as const
export const DEFAULT_TEMPLATE = '{subject}\n\n{body}'

/** Throws BAD_INPUT for a word in braces that is no field. */
export function checkTemplate(template: string): void {
  const known: readonly string[] = FIELDS
  for (const [whole, field = ''] of template.matchAll(/\{([a-z]+)\}/g))
    if (!known.includes(field))
      throw new SavestateError('BAD_INPUT', `The template has ${whole}, which is not a field`, {
        hint: `The fields are ${FIELDS.map((name) => `{${name}}`).join(', ')}.`,
      })
}

/** `title`: the subject instead of the prompt. */
export function commitMessage(
  group: StepGroup,
  { template, title }: { readonly template: string; readonly title?: string | undefined },
): string {
  const last = group.at(-1) ?? group[0]
  const agents = agentsOf(group)
  const whole = title ?? titleOf(group)
  const subject = cut(whole)
  const others = group.length > 1 || subject !== whole ? bodyOf(group, { whole, subject }) : ''
  const values: Record<(typeof FIELDS)[number], string> = {
    subject,
    body: others,
    prompt: clean(promptOf(last) ?? ''),
    reason: clean(withoutPromptMark(last.reason ?? '')),
    name: clean(last.name ?? ''),
    agent: agents.join(', '),
    checkpoint: last.id,
    date: new Date(last.createdAtMs).toISOString(),
  }
  const text = template.replace(/\{([a-z]+)\}/g, (_, field: keyof typeof values) => values[field])
  const lines = text.split('\n').map((line) => protect(line.trimEnd()))
  const trailers = [
    `Savestate-Checkpoint: ${last.id}`,
    ...agents.map((agent) => `Assisted-by: ${agent}`),
  ]
  const [first = '', ...rest] = lines.join('\n').replace(/^\n+/, '').split('\n')
  const head = protectSubject(first.trim() === '' ? `Checkpoint ${last.id}` : first.trim())
  // Not `trim`: the first line may be protected by a blank.
  const body = rest.join('\n').replace(/^\n+|\n+$/g, '')
  return `${[head, ...(body === '' ? [] : [body]), trailers.join('\n')].join('\n\n')}\n`
}

/** The first line. */
export function subjectOf(message: string): string {
  return message.slice(0, message.indexOf('\n'))
}

/** In the words of the user, if there are any. */
function titleOf(group: StepGroup): string {
  const [first] = group
  const last = group.at(-1) ?? first
  const prompt = group.map(promptOf).find((text) => text !== null)
  if (prompt !== undefined && group.length === 1 && isPromptRow(first))
    return clean(`Changes before the prompt: ${prompt}`)
  const title = clean(prompt ?? last.name ?? last.reason ?? '')
  if (title !== '') return title
  const [agent] = agentsOf(group)
  return agent === undefined ? `Checkpoint ${last.id}` : `Work of ${agent}`
}

/** The title in full if it was cut, then the steps. */
function bodyOf(
  group: StepGroup,
  { whole, subject }: { readonly whole: string; readonly subject: string },
): string {
  const full = whole === subject ? [] : [whole, '']
  const steps = group.map((step) => clean(withoutPromptMark(step.reason ?? step.kind)))
  const list = group.length === 1 ? [] : [...new Set(steps)].map((step) => `- ${step}`)
  return [...full, ...list].join('\n').trim()
}

/** The note on a commit: the prompts, each followed by its checkpoints. */
export function noteText(steps: StepGroup): string {
  const lines: string[] = []
  let last: string | undefined
  for (const step of steps) {
    const prompt = isPromptRow(step) ? null : promptOf(step)
    const [agent = 'you'] = agentsOf([step])
    const title = clean(`${agent}: ${prompt ?? withoutPromptMark(step.reason ?? step.kind)}`)
    if (title !== last) lines.push(title)
    last = title
    lines.push(`Savestate-Checkpoint: ${step.id}`)
  }
  return `${lines.join('\n')}\n`
}

/** The agents that took part; none for the user's own changes. */
export function agentsOf(group: StepGroup): readonly string[] {
  const names = group.flatMap((step) => {
    const agent = step.session?.agent
    const isOwn = isPromptRow(step) || step.authors?.join() === 'you'
    return typeof agent === 'string' && !isOwn ? clean(agent) : []
  })
  return [...new Set(names)].filter((name) => name !== '')
}

/** One line without secrets and without characters that act on a terminal or hide. */
function clean(text: string): string {
  return maskSecrets(text).text.replace(UNSAFE_CHARACTERS, ' ').replace(/\s+/gu, ' ').trim()
}

function cut(text: string): string {
  const characters = Array.from(text)
  if (characters.length <= MAX_SUBJECT) return text
  const start = characters.slice(0, MAX_SUBJECT - 1).join('')
  const blank = start.lastIndexOf(' ')
  return `${blank > MAX_SUBJECT / 2 ? start.slice(0, blank) : start}…`
}

/** Lines that `git am` takes for the end of the message, a header, or the next mail. */
function protect(line: string): string {
  return /^(?:---|diff -|Index: |>?From |\[PATCH\]|(?:From|Date|Subject|Content-[\w-]+):|-- *>8|-- *8<)/i.test(
    line,
  )
    ? ` ${line}`
    : line
}

/** `git am` removes these from the start of a subject. */
function protectSubject(subject: string): string {
  return /^(?:\[|:|re:)/i.test(subject) ? `Prompt: ${subject}` : subject
}

export type Identity = { readonly name: string; readonly email: string }

/** `Name <mail>`. Throws BAD_INPUT. */
export function parseIdentity(text: string): Identity {
  const [, name = '', email] = /^([^<>\0-\x1f]*?) *<([^<>\0-\x20]*)>$/.exec(text.trim()) ?? []
  if (email !== undefined && name !== '') return { name, email }
  throw new SavestateError('BAD_INPUT', `${JSON.stringify(text)} is not an author`, {
    hint: 'Write it as in: "Ada Lovelace <ada@example.com>"',
  })
}

export function encodeUserCommit(commit: {
  readonly tree: ObjectId
  readonly parent: ObjectId | undefined
  readonly identity: Identity
  readonly last: FilesCheckpoint
  readonly message: string
}): Buffer {
  const { tree, parent, identity, last, message } = commit
  // Git has no times before 1970.
  const seconds = Math.max(0, Math.floor(last.createdAtMs / 1000))
  const by = `${identity.name} <${identity.email}> ${seconds} +0000`
  const head = [`tree ${tree}`, ...(parent === undefined ? [] : [`parent ${parent}`])]
  return Buffer.from([...head, `author ${by}`, `committer ${by}`, '', message].join('\n'), 'utf8')
}
