// The heads of a foreign repository. Read from its files: git would use that repository's configuration.
import { readdirSync } from 'node:fs'
import { ifExists } from '../../base/index.js'
import { fsPath } from '../../model/index.js'
import { headOf, packedNames, type Repository, refCommit } from '../checkout/repository.js'

/** Null for a branch without commits. Paths have one character per byte. */
export function sourceHead(gitDir: string): string | null {
  return headOf(repositoryAt(gitDir)).commit
}

/** The refs below `prefix` (`refs/hermes/`), sorted, with their commits; null for a malformed ref. */
export function sourceRefs(
  gitDir: string,
  prefix: string,
): readonly { readonly name: string; readonly commit: string | null }[] {
  const repository = repositoryAt(gitDir)
  const folder = fsPath(`${gitDir}/${prefix}`)
  const loose = ifExists(() => readdirSync(folder, { encoding: 'latin1' })) ?? []
  const names = [...loose.map((name) => `${prefix}${name}`), ...packedNames(repository, prefix)]
  return [...new Set(names)].sort().map((name) => ({ name, commit: refCommit(repository, name) }))
}

function repositoryAt(gitDir: string): Repository {
  return { worktree: gitDir, gitDir, commonDir: gitDir }
}
