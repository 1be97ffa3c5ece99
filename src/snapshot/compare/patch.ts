// A readable diff of two snapshots, produced by git.
import { type BytePath, isAscii, type ObjectId } from '../../model/index.js'
import { runGit } from '../git/git-program.js'

export type PatchRequest = {
  readonly before: ObjectId
  readonly after: ObjectId
  readonly paths: readonly BytePath[]
  readonly color: boolean
  readonly stat: boolean
  /** Columns for `stat`. */
  readonly width: number
}

/** Compares two `files` trees. Returns git's output, mostly UTF-8. */
export async function patchText(gitDir: string, request: PatchRequest): Promise<string> {
  const { before, after, paths, color, stat, width } = request
  const output = await runGit(gitDir, [
    'diff',
    '--no-ext-diff',
    '--no-textconv',
    '--find-renames',
    color ? '--color=always' : '--color=never',
    ...(stat ? [`--stat=${width}`] : []),
    before,
    after,
    '--',
    ...paths.map(pathspec),
  ])
  return output.toString('utf8')
}

const OTHER_BYTE = '[!\u0001-\u007f]'

/** Process arguments must be UTF-8. In other paths, each byte that is not ASCII matches any such byte. */
function pathspec(path: BytePath): string {
  const text = isAscii(path) ? path : Buffer.from(path, 'latin1').toString('utf8')
  if (!text.includes('\ufffd')) return `:(top,literal)${text}`
  return `:(top,glob)${path.replace(/[*?[\\]/g, '\\$&').replace(/[\u0080-\u00ff]/g, OTHER_BYTE)}`
}
