// Writes the page and the data of one project into a single HTML file that opens without a server and without a network.
import {
  closeSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { hasCode } from '../../base/index.js'
import { SavestateError } from '../../internal.js'
import type { PageContext } from '../methods/index.js'
import { type Collected, collectAnswers } from './collect-answers.js'

export type ExportOptions = {
  readonly path: string
  /** The page without data, made by scripts/build-ui.mjs. */
  readonly template: string
  readonly context: PageContext
  readonly now: Date
  readonly maxBytes?: number
}
export type ExportResult = Omit<Collected, 'json'> & {
  readonly path: string
  readonly sizeBytes: number
}

const DATA_MARK = '<!--savestate-data-->'
/** Begins every exported page, after the doctype. */
const OWN_MARK = '<!--made by savestate ui --export-->'

/** Replaces only a file that an earlier export has made. Only the user may read the file. */
export async function exportPage(options: ExportOptions): Promise<ExportResult> {
  const { path, template, context, now, maxBytes } = options
  refuseOtherFile(path)
  const page = readFileSync(template, 'utf8')
  const { json, ...collected } = await collectAnswers(context, {
    madeAt: now,
    ...(maxBytes === undefined ? {} : { maxBytes }),
  })
  // A function, because `$&` in the data would be a pattern.
  const content = Buffer.from(page.replace(DATA_MARK, () => json))
  refuseOtherFile(path)
  const temporary = `${path}.${process.pid}.tmp`
  try {
    writeFileSync(temporary, content, { mode: 0o600, flag: 'wx' })
    renameSync(temporary, path)
  } catch (error) {
    rmSync(temporary, { force: true })
    throw explain(error, path)
  }
  return { ...collected, path, sizeBytes: content.length }
}

function refuseOtherFile(path: string): void {
  let file: number
  try {
    // Opening a pipe or a device would wait for someone who writes to it.
    if (!statSync(path).isFile()) throw otherFile(path)
    file = openSync(path, 'r')
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return
    throw explain(error, path)
  }
  try {
    const start = Buffer.alloc(200)
    const length = readSync(file, start)
    if (start.toString('utf8', 0, length).includes(OWN_MARK)) return
  } finally {
    closeSync(file)
  }
  throw otherFile(path)
}

function otherFile(path: string): SavestateError {
  return new SavestateError('BAD_INPUT', `${path} exists and is not an exported page`, {
    hint: 'Choose another name for the file, or remove it first.',
  })
}

const PROBLEMS: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  ENOENT: 'its folder does not exist',
  ENOSPC: 'no space is left',
  ENOTDIR: 'its folder is a file',
  EROFS: 'the file system is read-only',
}

function explain(error: unknown, path: string): unknown {
  const code = Object.keys(PROBLEMS).find((one) => hasCode(error, one))
  if (code === undefined) return error
  return new SavestateError('BAD_INPUT', `${path} cannot be written: ${PROBLEMS[code]}`, {
    hint: 'Choose another path for the file.',
    cause: error,
  })
}
