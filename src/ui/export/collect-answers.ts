// Collects the answers that an exported page needs: the same methods as over HTTP, with every text masked, up to a size.
import { maskSecrets, plural } from '../../base/index.js'
import { SavestateError } from '../../internal.js'
import type { Input, Method, Output } from '../api.js'
import { findMethod, type PageContext } from '../methods/index.js'
import { type ExportedData, exportKey } from './export-key.js'
import { maskKeyLines } from './mask-key-lines.js'

export const MAX_CHECKPOINTS = 500
export const MAX_BYTES = 20_000_000
const MAX_PATCH_BYTES = 200_000
/** As many as the page asks for. */
const ITEMS = 50

export type Collected = {
  /** JSON of `ExportedData`. It contains no `<`, so it can be part of a page. */
  readonly json: string
  readonly project: string
  readonly checkpoints: number
  readonly leftOut: readonly string[]
}

export async function collectAnswers(
  context: PageContext,
  { madeAt, maxBytes = MAX_BYTES }: { readonly madeAt: Date; readonly maxBytes?: number },
): Promise<Collected> {
  const answers = new Answers(context, maxBytes)
  const first = await answers.read('start', {})
  const { project } = first
  if (project === null)
    throw new SavestateError('BAD_INPUT', 'The store has no project to export', {
      hint: 'Run it in a folder with checkpoints: `savestate list --all` lists the projects.',
    })
  const { rows } = await answers.read('rows', { project, limit: MAX_CHECKPOINTS })
  answers.add(
    'start',
    {},
    {
      ...first,
      isReadOnly: true,
      isExport: true,
      rows,
      total: rows.length,
      hasMore: false,
      // The paths of other projects are not part of the export.
      projects: first.projects.filter(({ path }) => path === project),
    },
  )
  const used = new Set(rows.map((row) => row.session))
  const { sessions } = await answers.read('sessions', { project })
  const exported = sessions.filter(({ id }) => used.has(id))
  answers.add('sessions', { project }, { sessions: exported.map(withoutMetadata) })

  const changed: { readonly ref: string; readonly path: string }[] = []
  for (const { id: ref } of rows) {
    const details = await answers.tryRead('checkpoint', { project, ref })
    if (details !== undefined) {
      const agent = details.agent === null ? null : withoutMetadata(details.agent)
      answers.add('checkpoint', { project, ref }, { ...details, agent })
    }
    const input = { project, ref, with: 'previous' } as const
    const changes = await answers.tryRead('changes', input)
    if (changes === undefined) continue
    answers.add('changes', input, changes)
    changed.push(
      ...changes.changes.filter(({ type }) => type !== 'folder').map(({ path }) => ({ ref, path })),
    )
  }
  // Half of the rest is for conversations, the newest items first.
  const conversations = answers.bytes + (maxBytes - answers.bytes) / 2
  let missingItems = 0
  let missingSubagents = 0
  for (const { id: session } of exported) {
    const added = await addConversation(answers, session, conversations)
    missingItems += added.missing
    missingSubagents += await addSubagents(answers, { ...added, session, upTo: conversations })
  }
  let missingPatches = 0
  for (const { ref, path } of changed) {
    const input = { project, ref, with: 'previous', path } as const
    const patch = answers.isFull ? undefined : await answers.tryRead('patch', input)
    const isAdded =
      patch !== undefined && answers.add('patch', input, maskKeyLines(patch), MAX_PATCH_BYTES)
    if (!isAdded) missingPatches += 1
  }
  const leftOut = [
    ...describeMissing(first.total - rows.length, 'older checkpoint'),
    ...describeMissing(answers.missing, 'answer'),
    ...describeMissing(missingItems, 'earlier item', ' of conversations'),
    ...describeMissing(missingSubagents, 'conversation', ' of subagents, at least in part'),
    ...describeMissing(missingPatches, 'diff', ', too large or too many'),
  ]
  const data = { madeAt: madeAt.toISOString(), leftOut }
  return { json: answers.toJson(data), project, checkpoints: rows.length, leftOut }
}

type Started = NonNullable<Output<'items'>['items'][number]['started']>[number]

/** From the end on. `missing`: how many items were left out. */
async function addConversation(
  answers: Answers,
  session: string,
  upTo: number,
): Promise<{ readonly missing: number; readonly started: readonly Started[] }> {
  const page = await answers.tryRead('session', { session })
  if (page === undefined) return { missing: 0, started: [] }
  answers.add('session', { session }, { ...page, session: withoutMetadata(page.session) })
  const started: Started[] = []
  let from = Math.floor((page.total - 1) / ITEMS) * ITEMS
  for (; from >= 0; from -= ITEMS) {
    const input = { session, from, limit: ITEMS }
    const slice = answers.bytes < upTo ? await answers.tryRead('items', input) : undefined
    if (slice === undefined || !answers.add('items', input, slice))
      return { missing: from + ITEMS, started }
    started.push(...startedIn(slice))
  }
  return { missing: 0, started }
}

type Subagents = {
  readonly session: string
  readonly started: readonly Started[]
  readonly upTo: number
}

/** With those that they have started themselves. Returns how many are left out or not complete. */
async function addSubagents(
  answers: Answers,
  { session, started, upTo }: Subagents,
): Promise<number> {
  const waiting = new Map<string, string | null>()
  const put = (found: readonly Started[]) => {
    for (const { call, agent } of found) waiting.set(call, agent ?? waiting.get(call) ?? null)
  }
  put(started)
  let missing = 0
  // A map also visits what is added meanwhile.
  for (const [call, agent] of waiting) {
    const point = { session, call, ...(agent === null ? {} : { agent }) }
    let total = 1
    for (let from = 0; from < total; from += ITEMS) {
      const input = { ...point, from, limit: ITEMS }
      const slice = answers.bytes < upTo ? await answers.tryRead('items', input) : undefined
      if (slice === undefined || !answers.add('items', input, slice)) {
        missing += 1
        break
      }
      total = slice.total
      put(startedIn(slice))
    }
  }
  return missing
}

function startedIn({ items }: Output<'items'>): readonly Started[] {
  return items.flatMap((item) => item.started ?? [])
}

function describeMissing(number: number, noun: string, more = ''): readonly string[] {
  return number <= 0 ? [] : [`${number} ${plural(number, noun)}${more}`]
}

/** Agents store what they like in it. */
function withoutMetadata<Value extends { readonly metadata: unknown }>(value: Value): Value {
  return { ...value, metadata: null }
}

class Answers {
  bytes = 0
  /** How many answers had no space, besides items and patches. */
  missing = 0
  readonly #json = new Map<string, string>()

  constructor(
    private readonly context: PageContext,
    private readonly maxBytes: number,
  ) {}

  get isFull(): boolean {
    return this.bytes >= this.maxBytes
  }

  async read<Name extends Method>(name: Name, input: Input<Name>): Promise<Output<Name>> {
    const answer = await findMethod(name)?.call(input, async () => this.context)
    // As the browser would get it: dates are text.
    return JSON.parse(JSON.stringify(answer)) as Output<Name>
  }

  /** Undefined if the method fails, as for a damaged checkpoint. The page then shows the error. */
  async tryRead<Name extends Method>(
    name: Name,
    input: Input<Name>,
  ): Promise<Output<Name> | undefined> {
    try {
      return await this.read(name, input)
    } catch (error) {
      if (!(error instanceof SavestateError)) throw error
      const { code, message, hint } = error
      this.#put(maskedKey(name, input), maskedJson({ error: { code, message, hint } }))
      return undefined
    }
  }

  /** False if there is no space for it. */
  add<Name extends Method>(
    name: Name,
    input: Input<Name>,
    answer: Output<Name>,
    maxBytes = Infinity,
  ): boolean {
    const json = maskedJson(answer)
    const isAdded = Buffer.byteLength(json) <= maxBytes && this.#put(maskedKey(name, input), json)
    if (!isAdded && name !== 'items' && name !== 'patch') this.missing += 1
    return isAdded
  }

  #put(key: string, json: string): boolean {
    const size = Buffer.byteLength(json) + Buffer.byteLength(key)
    if (this.bytes + size > this.maxBytes) return false
    this.bytes += size
    this.#json.set(key, json)
    return true
  }

  toJson(rest: Omit<ExportedData, 'answers'>): string {
    const answers = [...this.#json].map(([key, json]) => `${escape(JSON.stringify(key))}:${json}`)
    const open = escape(JSON.stringify(rest)).slice(0, -1)
    return `${open},"answers":{${answers.join(',')}}}`
  }
}

/** The page asks with the texts that it got, which are masked. */
function maskedKey(name: Method, input: Readonly<Record<string, unknown>>): string {
  return exportKey(name, JSON.parse(JSON.stringify(input, maskText)) as typeof input)
}

function maskedJson(value: unknown): string {
  return escape(JSON.stringify(value, maskText))
}

function maskText(_name: string, value: unknown): unknown {
  return typeof value === 'string' ? maskSecrets(value).text : value
}

/** A `<` could end the element that contains the data. In JSON it is only in texts. */
function escape(json: string): string {
  return json.replaceAll('<', String.raw`\u003c`)
}
