// What commits take on disk, as git counts it.
import type { ObjectId } from '../../model/index.js'
import { eachLine } from './mark.js'

const REV_LIST = ['rev-list', '--objects', '--disk-usage', '--stdin']

/** The bytes of everything that these commits lead to and `without` does not. */
export async function diskBytesOf(
  gitDir: string,
  {
    commits,
    without,
  }: { readonly commits: readonly ObjectId[]; readonly without: ObjectId | null },
): Promise<number> {
  // Without any commit, git would print how it is used.
  if (commits.length === 0) return 0
  let bytes = 0
  // Its tree: git takes the contents of an excluded commit into account only where histories meet.
  const input = [...commits, ...(without === null ? [] : [`^${without}^{tree}`])]
  await eachLine(gitDir, { args: REV_LIST, input }, (line) => {
    bytes = Number(line)
  })
  return bytes
}
