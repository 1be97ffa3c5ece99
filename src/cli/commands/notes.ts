// Lists the user's commits that contain recorded steps, or writes git notes for them.
import { type NotesResult, SavestateError } from '../../index.js'
import { command } from '../runtime/command.js'
import { writeNewFile } from '../runtime/write-new-file.js'
import { displayPath, printableLines } from '../terminal/escape.js'

type Written = NotesResult & { readonly path: string | null }

export const run = command({
  isPaged: true,
  async call(request): Promise<Written> {
    const { positionals, options, hooks } = request
    const [range] = positionals
    if (range !== undefined && options.has('all'))
      throw new SavestateError('BAD_INPUT', 'Give either a range or --all, not both')
    const project = await request.project()
    const result = await project.notes(range ?? null, hooks)
    const output = options.text('output')
    const path =
      output === undefined || result.notes.length === 0
        ? null
        : writeNewFile(request, { path: output, content: result.content })
    return { ...result, path }
  },
  json: ({ notes }) => ({
    notes: notes.map(({ commit, checkpoints }) => ({ commit, checkpoints })),
  }),
  render({ notes, path }) {
    if (notes.length === 0) return 'No commit in the history of HEAD contains a recorded step.'
    if (path === null)
      return notes
        .map(
          ({ commit, text }) =>
            `commit ${commit}\n${printableLines(text.trimEnd()).replace(/^/gm, '    ')}`,
        )
        .join('\n\n')
    const count = notes.length === 1 ? '1 commit' : `${notes.length} commits`
    const ref = 'refs/notes/savestate'
    return `Written: notes on ${count} to ${displayPath(path)}. Take them with: git fetch ${displayPath(path)} ${ref}:${ref}`
  },
})
