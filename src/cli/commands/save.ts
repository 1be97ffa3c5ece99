import type { SaveResult, SessionSaveResult } from '../../index.js'
import { command, type Request } from '../command.js'
import { counted, lines } from '../figures.js'
import { printableLine } from '../printable.js'
import { relativeTime } from '../relative-time.js'
import { programFor } from '../shell-quoted.js'
import { shortIdOf } from '../short-id.js'
import { skippedText } from '../skipped-text.js'
import { untrustedLine } from '../untrusted-text.js'

export const run = command({
  async call(request): Promise<SaveResult | SessionSaveResult> {
    const { project, options, hooks } = request
    const [reason, name] = [options.text('message'), options.text('name')]
    const input = {
      ...(reason === undefined ? {} : { reason }),
      ...(name === undefined
        ? {}
        : { name, namedBy: request.isAgent ? ('agent' as const) : ('user' as const) }),
    }
    const id = options.text('session')
    if (id === undefined) return (await project()).save(input, hooks)
    const state = await givenState(request)
    const { inSession } = await import('../known-session.js')
    return inSession(request, {
      id,
      work: (session) =>
        session.save({ ...input, ...state, files: !options.has('no-files') }, hooks),
    })
  },
  async render(result, request) {
    const id = await shortIdOf(await request.project(), result.id)
    if (!result.created) {
      const named = request.options.has('name')
        ? `, which is named ${printableLine(result.name ?? '')}`
        : ''
      return `Nothing changed since ${id} (${relativeTime(result.createdAt, request.screen.now)})${named}.`
    }
    const { session, step, hasFiles, hasState } = result
    const place = session === null ? '' : ` as step ${step} of ${printableLine(session)}`
    const files = `${counted(result.files, 'file')} changed, ${lines(result)}`
    const held = [hasFiles ? files : [], hasState ? 'the state' : []].flat()
    return `Saved ${id}${place}: ${held.join('; ')}.`
  },
  async note({ id, created, skippedByReason }, { project, screen, options }) {
    const here = await project()
    const { untrusted } = await here.config()
    const program = programFor(options)
    const refused = untrustedLine(untrusted, `${program} config trust`)
    const warning = created ? skippedText(skippedByReason) : undefined
    const lines = [
      ...(warning === undefined
        ? []
        : [
            `${screen.paintNote('yellow', warning)} See: ${program} show ${await shortIdOf(here, id)}`,
          ]),
      ...(refused === undefined ? [] : [screen.paintNote('yellow', refused)]),
    ]
    return lines.length === 0 ? undefined : lines.join('\n')
  },
})

/** Read before anything is made: a malformed one leaves nothing behind. */
async function givenState({ options }: Request): Promise<{ state?: unknown }> {
  const path = options.texts('state').at(-1)
  if (path === undefined) return {}
  const { readGiven } = await import('../given-text.js')
  const { parseJsonText } = await import('../json-text.js')
  return { state: parseJsonText(await readGiven(path)) }
}
