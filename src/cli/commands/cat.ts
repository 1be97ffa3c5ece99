// Prints one file of a checkpoint: the exact bytes, except on a terminal.
import { type FileResult, SavestateError } from '../../index.js'
import { type Command, command, type Request } from '../runtime/command.js'
import { EXIT } from '../runtime/exit.js'
import { folderOf } from '../runtime/open-session.js'
import { findCheckpoint } from '../runtime/checkpoint-argument.js'
import { printBytes } from '../terminal/stdio.js'
import { printableLines } from '../terminal/escape.js'
import { givenPathText, projectPaths } from '../runtime/path-arguments.js'

export const run: Command = async (request) => {
  const { isJson, screen } = request
  if (isJson) return command({ call: readWanted, json: jsonOf, render: () => '' })(request)
  const file = await readWanted(request)
  const bytes = Buffer.from(file.content)
  if (screen.isTerminal) screen.print(shownText(file))
  else printBytes(file.type === 'link' ? Buffer.concat([bytes, Buffer.from('\n')]) : bytes)
  return EXIT.done
}

function shownText({ content, path }: FileResult): string {
  const text = textOf(content)
  if (text !== undefined && !text.includes('\0')) return printableLines(text)
  throw new SavestateError('BAD_INPUT', `${path} is a binary file`, {
    hint: 'Write it to a file: add > FILE to the command.',
  })
}

function jsonOf({ content, ...file }: FileResult) {
  const text = textOf(content)
  return text === undefined
    ? { ...file, contentBase64: Buffer.from(content).toString('base64') }
    : { ...file, content: text }
}

/** Undefined if the bytes are not UTF-8. */
function textOf(content: Uint8Array): string | undefined {
  const text = Buffer.from(content).toString('utf8')
  return Buffer.from(text).equals(content) ? text : undefined
}

/**
 * Names and paths may contain a colon. Tries every way to split `a:b:c`, and takes the first that leads to a file; if none
 * does, reports the error of the first whose checkpoint exists.
 */
async function readWanted(request: Request): Promise<FileResult> {
  const faults: SavestateError[] = []
  for (const wanted of waysToRead(request)) {
    try {
      return await readOne(request, wanted)
    } catch (error) {
      if (!(error instanceof SavestateError)) throw error
      faults.push(error)
    }
  }
  throw (
    faults.find(({ code }) => code !== 'CHECKPOINT_UNKNOWN') ??
    faults[0] ??
    new SavestateError('BAD_INPUT', 'The path is missing', {
      hint: 'Usage: savestate cat <ref>:PATH, as in: savestate cat 1:src/app.ts',
    })
  )
}

type Wanted = { readonly ref: string; readonly path: string }

function waysToRead({ positionals }: Request): readonly Wanted[] {
  const [first = '', path] = positionals
  if (path !== undefined) return [{ ref: first, path }]
  return [...first.matchAll(/:/g)].map(({ index }) => ({
    ref: first.slice(0, index),
    path: first.slice(index + 1),
  }))
}

async function readOne(request: Request, { ref, path }: Wanted): Promise<FileResult> {
  const project = await request.project()
  const session = request.options.text('session')
  let id = ref
  if (session !== undefined) {
    id = (await findCheckpoint({ ...request, argument: () => ref })).id
    const store = await request.store()
    const folder = await folderOf(store, session)
    // The session belongs to another project: the path is relative to that one.
    if (folder !== null && folder !== project.path)
      return (await store.project(folder)).file(id, givenPathText(path))
  }
  const [inProject = ''] = await projectPaths(request, [path])
  return project.file(id, inProject, request.hooks)
}
