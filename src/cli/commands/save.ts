import { askDaemon, type SaveAnswer, saveProject } from '../../daemon/index.js'
import type { SessionSaveResult } from '../../index.js'
import { command, type Request } from '../runtime/command.js'
import { currentFolder } from '../start/current-folder.js'
import { formatCount, formatLines } from '../terminal/format-numbers.js'
import { printableLine } from '../terminal/escape.js'
import { relativeTime } from '../terminal/relative-time.js'
import { noteOrigin } from '../runtime/request.js'
import { programFor } from '../terminal/shell-quote.js'
import { skippedText } from '../render/skipped-text.js'
import { untrustedLine } from '../render/untrusted-text.js'

type Saved = Pick<SaveAnswer, 'shortId' | 'untrusted'> & {
  readonly result: SaveAnswer['result'] | SessionSaveResult
}

export const run = command<Saved>({
  async call(request) {
    const { options } = request
    const [reason, name] = [options.text('message'), options.text('name')]
    const input = {
      ...(reason === undefined ? {} : { reason }),
      ...(name === undefined
        ? {}
        : { name, namedBy: request.isAgent ? ('agent' as const) : ('user' as const) }),
    }
    const id = options.text('session')
    if (id !== undefined) return saveSession(request, { id, input })
    return (
      (await saveByDaemon(request, input)) ??
      saveProject(await request.project(), {
        store: await request.store(),
        input,
        hooks: request.hooks,
      })
    )
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
    const lines = [
      ...(warning === undefined
        ? []
        : [`${screen.paintNote('yellow', warning)} See: ${program} show ${shortId}`]),
      ...(refused === undefined ? [] : [screen.paintNote('yellow', refused)]),
    ]
    return lines.length === 0 ? undefined : lines.join('\n')
  },
})

/** Undefined if this process must save. */
async function saveByDaemon(
  { options, folder, bar, hooks }: Request,
  input: object,
): Promise<SaveAnswer | undefined> {
  const current = folder === '.' ? currentFolder() : undefined
  if (current === undefined || options.has('max-file-mb')) return undefined
  const line = await askDaemon({
    request: { do: 'save', folder: current, input },
    onProgress: (progress) => bar.update(progress as Parameters<typeof bar.update>[0]),
  })
  if (line?.['error'] !== undefined) {
    const { SavestateError } = await import('../../index.js')
    const { code, message, hint } = line['error'] as ReturnType<
      InstanceType<typeof SavestateError>['toJSON']
    >
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

async function saveSession(
  request: Request,
  { id, input }: { readonly id: string; readonly input: object },
): Promise<Saved> {
  const { options, hooks } = request
  const state = await givenState(request)
  const { inSession } = await import('../runtime/open-session.js')
  const result = await inSession(request, id, (session) =>
    session.save({ ...input, ...state, files: !options.has('no-files'), ...hooks }),
  )
  if (request.isJson) return { result, shortId: result.id, untrusted: [] }
  const shortIds = await (await request.store()).shortIds([result.id])
  const { untrusted } = await (await request.project()).config()
  return { result, shortId: shortIds.get(result.id) ?? result.id, untrusted }
}

/** Called before anything is created: a malformed state leaves nothing behind. */
async function givenState({ options }: Request): Promise<{ state?: unknown }> {
  const path = options.texts('state').at(-1)
  if (path === undefined) return {}
  const { parseJsonText, readGiven } = await import('../runtime/read-text-argument.js')
  return { state: parseJsonText(await readGiven(path)) }
}
