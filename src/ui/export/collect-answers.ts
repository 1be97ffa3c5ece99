// Collects the answers that an exported page needs: the same methods as over HTTP.
import { plural } from '../../base/index.js'
import { SavestateError } from '../../internal.js'
import type { Output } from '../api.js'
import type { PageContext } from '../methods/index.js'
import { Answers } from './answers.js'
import { imageTypeOf, MAX_EXPORTED_IMAGE_BYTES } from './image-type.js'
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

  const changed: { readonly ref: string; readonly before: string | null; readonly path: string }[] =
    []
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
    const files = changes.changes.filter(({ type }) => type !== 'folder')
    changed.push(...files.map(({ path }) => ({ ref, before: changes.from, path })))
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
  const images: Image[] = []
  for (const { ref, before, path } of changed) {
    const input = { project, ref, with: 'previous', path } as const
    const patch = answers.isFull ? undefined : await answers.tryRead('patch', input)
    const isAdded =
      patch !== undefined && answers.add('patch', input, maskKeyLines(patch), MAX_PATCH_BYTES)
    if (!isAdded) missingPatches += 1
    if (patch?.kind === 'binary' && imageTypeOf(path) !== undefined)
      images.push(
        { ref, path, sizeBytes: patch.sizeAfter },
        { ref: before, path, sizeBytes: patch.sizeBefore },
      )
  }
  const missingImages = await addImages(answers, project, images)
  const leftOut = [
    ...describeMissing(first.total - rows.length, 'older checkpoint'),
    ...describeMissing(answers.missing, 'answer'),
    ...describeMissing(missingItems, 'earlier item', ' of conversations'),
    ...describeMissing(missingSubagents, 'conversation', ' of subagents, at least in part'),
    ...describeMissing(missingPatches, 'diff', ', too large or too many'),
    ...describeMissing(missingImages, 'image', ', too large or too many'),
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

/** One side of a change; a side that does not exist has no checkpoint or no size. */
type Image = {
  readonly ref: string | null
  readonly path: string
  readonly sizeBytes: number | null
}

/** Returns how many are left out. */
async function addImages(
  answers: Answers,
  project: string,
  images: readonly Image[],
): Promise<number> {
  let missing = 0
  for (const { ref, path, sizeBytes } of images) {
    if (ref === null || sizeBytes === null) continue
    const isSmall = sizeBytes <= MAX_EXPORTED_IMAGE_BYTES
    if (!isSmall || !(await answers.addFile({ project, ref, path }))) missing += 1
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
