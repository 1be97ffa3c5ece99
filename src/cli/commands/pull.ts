// `savestate pull`: gets sessions and, with --into, restores the newest files of one into a folder, as a rewind does.
import { type PulledLog, type PullResult, type Project, SavestateError } from '../../index.js'
import { restoredIntoText, type RestoredInto, restoreInto } from '../rewind/restore-into.js'
import { conversationText } from '../rewind/rewind-conversation.js'
import { folderText } from '../render/checkpoint-table.js'
import { failureLines, forkLines, holderText } from '../render/shared-logs.js'
import { command, type Request } from '../runtime/command.js'
import { EXIT } from '../runtime/exit.js'
import { printableLine } from '../terminal/escape.js'
import { formatCount } from '../terminal/format-numbers.js'
import { quoteForShell } from '../terminal/shell-quote.js'

type Pulled = PullResult & { readonly restored: RestoredInto | null }

export const run = command<Pulled>({
  async call(request) {
    const { positionals, options } = request
    const [session] = positionals
    const [remote, dir] = [options.text('remote'), options.text('into')]
    const store = await request.store()
    const into = dir === undefined ? undefined : await store.project(dir)
    const project = into ?? (session === undefined ? undefined : await findHere(request))
    const result = await store.remotes.pull({
      ...(remote === undefined ? {} : { remote }),
      ...(session === undefined ? {} : { session }),
      ...(project === undefined ? {} : { project }),
      ...(into === undefined ? {} : { into }),
      all: options.has('all'),
      take: options.has('take'),
    })
    const isRestored = into !== undefined && session !== undefined
    return {
      ...result,
      restored: isRestored ? await restoreInto(request, { session, project: into }) : null,
    }
  },
  async render(result, request) {
    const { pulled, restored } = result
    const isOne = request.positionals.length > 0
    return [
      ...(isOne ? pulled.flatMap((log) => oneLines(log, request)) : [allText(result)]),
      ...forkLines(pulled),
      ...failureLines(pulled, request.screen),
      ...(restored === null ? [] : await restoredLines(restored, request)),
    ].join('\n')
  },
  exitCode({ pulled, restored }) {
    if (pulled.some(({ error }) => error !== null)) return EXIT.failed
    return restored?.result?.declined === true ? EXIT.declined : EXIT.done
  },
})

/** The project of the current folder; undefined where none can be. */
async function findHere({ project }: Request): Promise<Project | undefined> {
  try {
    return await project()
  } catch (error) {
    const isNone = error instanceof SavestateError && error.code === 'PROJECT_REFUSED'
    if (!isNone) throw error
    return undefined
  }
}

function oneLines(log: PulledLog, { screen, options }: Request): readonly string[] {
  const { id, segments, holder, project, missingFiles } = log
  const again = `savestate pull ${quoteForShell(id)}`
  const where = project === null ? '' : `, in ${folderText(project)}`
  return [
    segments === 0
      ? `${printableLine(id)} is up to date${where}.`
      : `${printableLine(id)} is here${where}. See it: savestate resume ${quoteForShell(id)}`,
    ...(missingFiles === 0 || options.has('into')
      ? []
      : [
          `Its files stay on the remote, because no folder here is a clone of its project. To get them: ${again} --into DIR`,
        ]),
    ...(holder === null
      ? []
      : [`${holderText(holder, screen)} may still continue it. To take it: ${again} --take`]),
  ]
}

function allText({ pulled, remote }: Pulled): string {
  const changed = pulled.filter(({ segments }) => segments > 0)
  const files = pulled.reduce((sum, log) => sum + log.files, 0)
  if (changed.length === 0 && files === 0)
    return pulled.length === 0
      ? `Nothing is shared with ${remote.name} yet. To get everything that it has: savestate pull --all`
      : `Nothing is new on ${remote.name}.`
  const sessions = changed.filter(({ kind }) => kind !== 'project').length
  return `${formatCount(sessions, 'session')} and the files of ${formatCount(files, 'checkpoint')} came from ${remote.name}.`
}

async function restoredLines(restored: RestoredInto, request: Request): Promise<readonly string[]> {
  const { conversation } = restored
  const text = await restoredIntoText(restored, request)
  return conversation === null ? [text] : [text, conversationText(conversation, request)]
}
