// `savestate rewind` without a reference: the request again, with what the person picked in it.
import { SavestateError } from '../../index.js'
import type { Request } from '../command.js'
import { printable, printableLine } from '../printable.js'
import { projectPaths } from '../project-path.js'
import { relativeTime } from '../relative-time.js'
import { usageOf } from '../table.js'
import { pick } from './pick.js'
import type { Preview } from './picker-lines.js'
import type { PickerRow, Restore } from './picker-state.js'

/** Undefined if they want nothing. Throws BAD_INPUT where nobody can be asked. */
export async function pickCheckpoint(request: Request): Promise<Request | undefined> {
  const { options, screen, hooks } = request
  const { stdin, stderr, env } = process
  const isTerminal = stdin.isTTY && stderr.isTTY && env['TERM'] !== 'dumb'
  if (!isTerminal || request.isJson || options.has('session')) throw refMissing()
  const project = await request.project()
  const { checkpoints } = await project.list({}, hooks)
  if (checkpoints.length === 0)
    throw new SavestateError('CHECKPOINT_UNKNOWN', 'There is no checkpoint of this folder yet', {
      hint: 'Make one: savestate save',
    })
  const paths = await projectPaths(request, options.texts('path'))
  const notices = new Set<string>()
  const look = async (row: PickerRow): Promise<Preview> => {
    if (!row.hasFiles) return { problem: 'It holds no files' }
    try {
      const onNotice = (text: string) => void notices.add(text)
      const { plan } = await project.rewind(
        { to: row.id, paths, keepMine: request.options.has('keep-mine'), dryRun: true },
        { onNotice },
      )
      return { plan }
    } catch (error) {
      if (error instanceof SavestateError) return { problem: error.message }
      throw error
    }
  }
  request.bar.erase()
  const choice = await pick({
    rows: checkpoints.map((checkpoint, index) => ({
      id: checkpoint.id,
      number: index + 1,
      time: relativeTime(checkpoint.createdAt, screen.now),
      what: whatText(checkpoint),
      hasFiles: checkpoint.hasFiles,
      // Single files come back without it.
      hasState: checkpoint.hasState && paths.length === 0,
    })),
    usual: options.has('both') ? 'both' : options.has('state') ? 'state' : 'files',
    keyboard: stdin,
    display: stderr,
    paint: screen.paintNote,
    look,
  })
  for (const text of notices) screen.note(printable(text))
  return choice === null ? undefined : withChoice(request, choice)
}

function whatText(checkpoint: {
  readonly name: string | null
  readonly reason: string | null
  readonly kind: string
  readonly pinned: boolean
}): string {
  const { name, reason, kind, pinned } = checkpoint
  const mark = `${pinned ? '[pinned] ' : ''}${name === null ? '' : `[${printableLine(name)}] `}`
  const text = printableLine(reason ?? '')
  if (text === '') return `${mark}${kind}`
  return `${mark}${kind === 'save' || text.startsWith(kind) ? '' : `${kind}: `}${text}`
}

function withChoice(
  request: Request,
  { id, restore }: { readonly id: string; readonly restore: Restore },
): Request {
  const { options } = request
  const ways = ['files', 'state', 'both']
  const has = (name: string): boolean => {
    if (ways.includes(name)) return name === restore
    // Without the conversation there is nothing to go on with.
    return options.has(name) && (name !== 'continue' || restore === 'both')
  }
  return {
    ...request,
    positionals: [id],
    argument: () => id,
    options: { ...options, has },
  }
}

function refMissing(): SavestateError {
  return new SavestateError('BAD_INPUT', '<ref> is missing', {
    hint: `Usage: ${usageOf('rewind')}`,
  })
}
