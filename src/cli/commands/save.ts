import { askDaemon, type SaveAnswer, type SaveInput, saveProject } from '../../daemon/index.js'
import type { ErrorText, SessionSaveResult } from '../../index.js'
import { command, type Request } from '../runtime/command.js'
import { currentFolder } from '../start/current-folder.js'
import { formatCount, formatLines } from '../terminal/format-numbers.js'
import { printableLine } from '../terminal/escape.js'
import { relativeTime } from '../terminal/relative-time.js'
import { noteOrigin } from '../runtime/request.js'
import { programFor } from '../terminal/shell-quote.js'
import { shortIdOf } from '../terminal/short-id.js'
import { skippedText } from '../render/skipped-text.js'
import { untrustedLine } from '../render/untrusted-text.js'

type Saved = Pick<SaveAnswer, 'shortId' | 'untrusted'> & {
  readonly result: SaveAnswer['result'] | SessionSaveResult
}

export const run = command<Saved>({
  async call(request) {
    const { options } = request
    const [reason, name] = [options.text('message'), options.text('name')]
    const namedBy = request.isAgent ? 'agent' : 'user'
    const input: SaveInput = {
      ...(reason === undefined ? {} : { reason }),
      ...(name === undefined ? {} : { name, namedBy }),
    }
    if (options.has('session')) return saveSession(request, input)
    const saved = await saveByDaemon(request, input)
    if (saved !== undefined) return saved
    const [project, store] = [await request.project(), await request.store()]
    return saveProject(project, { store, input, hooks: request.hooks })
  },
  json: ({ result }) => result,
  render({ result, shortId: id }, request) {
    if (!result.created) {
      const named = request.options.has('name')
        ? `, which is named ${printableLine(result.name ?? '')}`
        : ''
      return `Nothing changed since ${id} (${relativeTime(result.createdAt, request.screen.now)})${named}.`
    }
    const { session, step, hasFiles, hasState } = result
    const position = session === null ? '' : ` as step ${step} of ${printableLine(session)}`
    const files = `${formatCount(result.files, 'file')} changed, ${formatLines(result)}`
    const held = [hasFiles ? files : [], hasState ? 'the state' : []].flat()
    return `Saved ${id}${position}: ${held.join('; ')}.`
  },
  note({ result, shortId, untrusted }, { screen, options }) {
    const program = programFor(options)
    const refused = untrustedLine(untrusted, `${program} config trust`)
    const warning = result.created ? skippedText(result.skippedByReason) : undefined
    const yellow = (text: string) => screen.paintNote('yellow', text)
    const lines = [
      warning === undefined ? [] : `${yellow(warning)} See: ${program} show ${shortId}`,
      refused === undefined ? [] : yellow(refused),
    ].flat()
    return lines.length === 0 ? undefined : lines.join('\n')
  },
})

/** Undefined if this process must save. */
async function saveByDaemon(
  { options, folder, bar, hooks }: Request,
  input: SaveInput,
): Promise<SaveAnswer | undefined> {
  const current = folder === '.' ? currentFolder() : undefined
  if (current === undefined || options.has('max-file-mb')) return undefined
  const line = await askDaemon({
    request: { do: 'save', folder: current, input },
    onProgress: (progress) => bar.update(progress as Parameters<typeof bar.update>[0]),
  })
  if (line?.['error'] !== undefined) {
    const { SavestateError } = await import('../../index.js')
    const { code, message, hint } = line['error'] as ErrorText
    throw new SavestateError(code, message, hint === null ? {} : { hint })
  }
  const answer = line?.['answer'] as SaveAnswer | undefined
  if (answer === undefined) return undefined
  await noteOrigin(answer.origin, hooks)
  for (const text of answer.notices) hooks.onWarning?.(text)
  const { result } = answer
  // Over the socket it is text.
  return { ...answer, result: { ...result, createdAt: new Date(result.createdAt) } }
}

async function saveSession(request: Request, input: SaveInput): Promise<Saved> {
  const { options, hooks } = request
  const id = options.text('session') ?? ''
  const path = options.texts('state').at(-1)
  // Before anything is created: a malformed state leaves nothing behind.
  const state = path === undefined ? {} : { state: await readState(path) }
  const { inSession } = await import('../runtime/open-session.js')
  const result = await inSession(request, id, (session) =>
    session.save({ ...input, ...state, files: !options.has('no-files'), ...hooks }),
  )
  const { untrusted } = await (await request.project()).config()
  return { result, shortId: await shortIdOf(request, result.id), untrusted }
}

async function readState(path: string): Promise<unknown> {
  const { parseJsonText, readGiven } = await import('../runtime/read-text-argument.js')
  return parseJsonText(await readGiven(path))
}
