// Prints or writes commits made of checkpoints.
import { existsSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { type CommitsOptions, type CommitsResult, SavestateError } from '../../index.js'
import { command, type Request } from '../runtime/command.js'
import { printable } from '../terminal/escape.js'
import { printBytes } from '../terminal/stdio.js'
import { writeNewFile } from '../runtime/write-new-file.js'
import { displayPath } from '../terminal/escape.js'

type Written = CommitsResult & { readonly path: string | null; readonly isBundle: boolean }

export const run = command({
  async call(request): Promise<Written> {
    const { argument, options, isJson, screen, hooks } = request
    const output = options.text('output')
    const isBundle = options.text('format') === 'bundle'
    if (isBundle && output === undefined && !isJson && screen.isTerminal)
      throw new SavestateError('BAD_INPUT', 'A bundle is not text', {
        hint: 'Write it to a file with -o FILE.',
      })
    const project = await request.project()
    const given = { ...choicesOf(request), ...hooks }
    const result = await project.commits(argument(0), given)
    const path =
      output === undefined || result.commits.length === 0
        ? null
        : writeNewFile(request, { path: output, content: result.content })
    return { ...result, path, isBundle }
  },
  json: ({ commits, path }) => ({ commits, path }),
  render({ commits, content, path, isBundle }) {
    if (commits.length === 0 || path !== null) return describe({ commits, path, isBundle })
    printBytes(Buffer.from(content))
    return ''
  },
})

function choicesOf({ options, folder }: Request): CommitsOptions {
  const [per, format, author] = [
    options.text('per') as CommitsOptions['per'],
    options.text('format') as CommitsOptions['format'],
    options.text('author'),
  ]
  const template = options.text('template')
  return {
    ...(per === undefined ? {} : { per }),
    ...(format === undefined ? {} : { format }),
    ...(author === undefined ? {} : { author }),
    ...(template === undefined
      ? {}
      : { template: readTemplate(resolve(folder, template), template) }),
  }
}

/** The text of a file of that name, or the text itself. */
function readTemplate(path: string, text: string): string {
  if (existsSync(path)) return readFileSync(path, 'utf8')
  if (/\{[a-z]+\}/.test(text)) return text
  throw new SavestateError('BAD_INPUT', `${printable(JSON.stringify(text))} is not a template`, {
    hint: 'Give an existing file, or a text with a field such as {subject}.',
  })
}

function describe({
  commits,
  path,
  isBundle,
}: Pick<Written, 'commits' | 'path' | 'isBundle'>): string {
  if (path === null) return 'Nothing that git tracks differs between these checkpoints.'
  const count = commits.length === 1 ? '1 commit' : `${commits.length} commits`
  const how = isBundle
    ? `git fetch ${displayPath(path)} savestate:NEW-BRANCH`
    : `git am ${displayPath(path)}`
  return [
    ...commits.map(({ subject }) => `  ${printable(subject)}`),
    `Written: ${count} to ${displayPath(path)}. Take them with: ${how}`,
  ].join('\n')
}
