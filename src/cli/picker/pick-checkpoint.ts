// `savestate rewind` without a checkpoint: lets the user pick one, and returns the completed request.
import { type CheckpointView, SavestateError } from '../../index.js'
import { groupByPrompt, isPrompt } from '../render/checkpoint-groups.js'
import {
  type LineStyle,
  type ListRow,
  promptLine,
  hasSeveralAuthors,
  singleLine,
  stepLine,
} from '../render/checkpoint-table.js'
import type { Request } from '../runtime/command.js'
import { beforeChanges } from '../runtime/exit.js'
import type { Line } from '../terminal/line-layout.js'
import { NO_OWN_CHANGES, ownersSince } from '../rewind/own-changes.js'
import { printable } from '../terminal/escape.js'
import { projectPaths } from '../runtime/path-arguments.js'
import { usageOf } from '../args/commands-table.js'
import { pick } from './pick.js'
import type { PickerGroup, PickerRow } from './picker-items.js'
import type { Choice, Restore } from './picker-state.js'
import type { Preview } from './picker-lines.js'

/** Undefined if the user quits. Throws BAD_INPUT without a terminal. */
export async function pickCheckpoint(request: Request): Promise<Request | undefined> {
  const { options, screen, hooks } = request
  const { stdin, stderr, env } = process
  const isTerminal = stdin.isTTY && stderr.isTTY && env['TERM'] !== 'dumb'
  if (!isTerminal) throw refMissing('Name a checkpoint: there is no terminal to pick one on')
  if (request.isJson || options.has('session')) throw refMissing('<ref> is missing')
  const project = await request.project()
  const checkpoints = await project.list(hooks)
  if (checkpoints.length === 0)
    throw new SavestateError('CHECKPOINT_UNKNOWN', 'There is no checkpoint of this folder yet', {
      hint: 'Make one: savestate save',
    })
  const paths = await projectPaths(request, options.texts('path'))
  const notices = new Set<string>()
  const hasAuthors = hasSeveralAuthors(checkpoints)
  const input = { paths, keepMine: options.has('keep-mine') }
  const previewOf = async (id: string): Promise<Preview> => {
    try {
      const onWarning = (text: string) => void notices.add(text)
      const { plan } = await project.rewind(id, { ...input, dryRun: true, onWarning })
      return { plan, ...(hasAuthors ? await ownersSince(project, id) : NO_OWN_CHANGES) }
    } catch (error) {
      if (error instanceof SavestateError) return { problem: error.message }
      throw error
    }
  }
  request.bar.erase()
  const choice = await beforeChanges(() =>
    pick({
      groups: groupsOf(checkpoints, {
        style: { screen: { ...screen, paint: screen.paintNote }, hasAuthors },
        // With --path only files are restored.
        hasConversations: paths.length === 0,
      }),
      usual: usualOf(options),
      keyboard: stdin,
      display: stderr,
      paint: screen.paintNote,
      preview: (id, row) =>
        row.hasFiles ? previewOf(id) : Promise.resolve({ problem: 'It has no files' }),
    }),
  )
  for (const text of notices) screen.note(printable(text))
  return choice === null ? undefined : withChoice(request, choice)
}

/** `--conversation` and `--state` mean the same: a coding agent has a conversation, an SDK session a state. */
function usualOf(options: Request['options']): Restore {
  if (options.has('both')) return 'both'
  return options.has('state') || options.has('conversation') ? 'state' : 'files'
}

type Numbered = ListRow & { readonly number: number; readonly before: string | null }

export function groupsOf(
  checkpoints: readonly CheckpointView[],
  { style, hasConversations }: { readonly style: LineStyle; readonly hasConversations: boolean },
): PickerGroup[] {
  const rowOf = (row: Numbered, line: Line): PickerRow => {
    const { id, number, moment, before, hasFiles } = row
    const hasState = row.hasState && hasConversations
    return { id, number, line, isPrompt: isPrompt(row), moment, before, hasFiles, hasState }
  }
  const groups = groupByPrompt(numberRows(checkpoints))
  const isFlat = groups.every(({ type }) => type === 'row')
  return groups.map((group) => {
    if (group.type === 'row') {
      const line = singleLine(group.row, style)
      return { head: rowOf(group.row, isFlat ? { ...line, indent: 0 } : line), steps: [] }
    }
    const { prompt, isContinued } = group
    return {
      head: isContinued ? null : rowOf(prompt, promptLine(prompt, style)),
      steps: group.steps.map((row) => rowOf(row, stepLine(row, style))),
    }
  })
}

/** `before` is the checkpoint just before a tool call: the newest older one with files. */
function numberRows(checkpoints: readonly CheckpointView[]): readonly Numbered[] {
  const rows: Numbered[] = []
  let earlier: string | null = null
  for (const [index, checkpoint] of [...checkpoints.entries()].reverse()) {
    const before: string | null = checkpoint.moment === 'after' ? earlier : null
    rows.push({ ...checkpoint, shortId: checkpoint.id, number: index + 1, before })
    if (checkpoint.hasFiles) earlier = checkpoint.id
  }
  return rows.reverse()
}

export function withChoice(request: Request, { id, restore, before }: Choice): Request {
  const { options } = request
  const ways = ['files', 'state', 'conversation', 'both']
  const has = (name: string): boolean => {
    if (ways.includes(name)) return name === restore
    if (name === 'before') return before
    // Without the conversation there is nothing to continue.
    return options.has(name) && (name !== 'continue' || restore !== 'files')
  }
  return { ...request, positionals: [id], argument: () => id, options: { ...options, has } }
}

function refMissing(message: string): SavestateError {
  return new SavestateError('BAD_INPUT', message, { hint: `Usage: ${usageOf('rewind')}` })
}
