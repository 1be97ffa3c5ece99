// Whether two paths lead to the same folder. Comparing text is not enough: a folder that is mounted twice has two real paths.
import { statSync } from 'node:fs'
import { ifExists } from '../../base/index.js'
import { fsPath } from '../../model/index.js'

export type FolderIdentity = { readonly dev: bigint; readonly ino: bigint }

/** Undefined if the path does not exist or is not accessible. */
export function identityOf(path: string): FolderIdentity | undefined {
  const stat = () => statSync(fsPath(path), { bigint: true, throwIfNoEntry: false })
  return ifExists(stat, 'EACCES', 'ELOOP', 'ENAMETOOLONG')
}

export function isSameFolder(
  one: FolderIdentity | undefined,
  other: FolderIdentity | undefined,
): boolean {
  return one !== undefined && one.ino === other?.ino && one.dev === other.dev
}
