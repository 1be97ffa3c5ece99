// Merges three versions of a file with `git merge-file`. It reads files, not objects, because git has read objects there only
// since 2.43.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { SavestateError } from '../../model/index.js'
import { tryGit } from '../git/git-program.js'
import { hasNul } from '../objects/count-lines.js'

export const VERSIONS = ['ours', 'base', 'theirs'] as const
export type Version = (typeof VERSIONS)[number]

/** `conflict`: the content has git's conflict markers. */
export type MergedContents =
  | { readonly type: 'merged' | 'conflict'; readonly content: Buffer }
  | { readonly type: 'binary' }

/** git exits with the number of conflicts, up to this one; with a larger number it has failed. */
const MOST_CONFLICTS = 127

/** `folder`: for temporary files; it must not exist and is removed. `labels` name the versions in conflict markers. */
export async function mergeContents(
  gitDir: string,
  {
    contents,
    labels,
    folder,
  }: {
    readonly contents: Readonly<Record<Version, Buffer>>
    readonly labels: Readonly<Record<Version, string>>
    readonly folder: string
  },
): Promise<MergedContents> {
  if (VERSIONS.some((version) => hasNul(contents[version]))) return { type: 'binary' }
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  try {
    for (const version of VERSIONS)
      writeFileSync(join(folder, version), contents[version], { mode: 0o600 })
    // git runs in its own folder, so no byte of the path to the store is in an argument.
    const names = VERSIONS.map((version) => join(relative(gitDir, folder), version))
    const labelled = VERSIONS.flatMap((version) => ['-L', labels[version]])
    const args = ['merge-file', '--stdout', ...labelled, ...names]
    const { status, output, complaints } = await tryGit(gitDir, args)
    if (status === 0) return { type: 'merged', content: output }
    if (status !== null && status <= MOST_CONFLICTS) return { type: 'conflict', content: output }
    throw new SavestateError('GIT_FAILED', `git merge-file failed: ${complaints.slice(0, 500)}`)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
