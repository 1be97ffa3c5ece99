// Recreates derived data and quarantines damaged files. If any step is interrupted, the store is no worse than before: new data
// is complete before old data is moved.
import { chmodSync, fsyncSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { ObjectId } from '../../model/index.js'
import { SetAside, syncFile, syncFolder } from '../../system/index.js'
import { tryGit } from '../git/git-program.js'
import { type CommitMetadata, encodeCommit, StagedRef } from '../objects/commit.js'
import { looseBytes, loosePath, writeLooseObjects } from '../objects/loose.js'
import { objectIdOf } from '../objects/object-id.js'
import { ensureRepository, type RepositoryFile, writeRepositoryFile } from '../repository.js'
import { replacePack } from './salvage-pack.js'

export type ObjectRepair =
  | { readonly type: 'folders' }
  | { readonly type: 'repository'; readonly file: RepositoryFile }
  | { readonly type: 'loose'; readonly id: ObjectId }
  /** Rebuilds the index of a pack; if that is not possible, salvages the pack. */
  | { readonly type: 'index'; readonly name: string }
  /** Copies what can be read of a pack to a new one, and quarantines it. */
  | { readonly type: 'pack'; readonly name: string }
  | { readonly type: 'commit'; readonly facts: CommitMetadata }
  | { readonly type: 'ref'; readonly name: string; readonly commit: ObjectId }

export type RepairPaths = { readonly home: string; readonly aside: string }

/** The id of the commit that was written; undefined for anything else. */
export async function mend(
  { home, aside }: RepairPaths,
  request: ObjectRepair,
): Promise<ObjectId | undefined> {
  const gitDir = join(home, 'objects.git')
  const objects = join(gitDir, 'objects')
  const away = new SetAside({ root: home, folder: aside })
  const temporary = join(home, 'tmp', 'repair')
  mkdirSync(temporary, { recursive: true, mode: 0o700 })
  try {
    switch (request.type) {
      case 'folders':
        await ensureRepository(gitDir)
        mkdirSync(join(gitDir, 'info'), { recursive: true, mode: 0o700 })
        return undefined
      case 'repository':
        away.move(join(gitDir, request.file), 'does not contain what the installed git needs')
        await writeRepositoryFile(gitDir, request.file)
        return undefined
      case 'loose':
        away.move(loosePath(objects, request.id), 'its content does not match its name')
        return undefined
      case 'index':
        if (!(await makeIndex(gitDir, { name: request.name, temporary, away })))
          await replacePack(join(objects, 'pack'), { name: request.name, temporary, away })
        return undefined
      case 'pack':
        await replacePack(join(objects, 'pack'), { name: request.name, temporary, away })
        return undefined
      case 'commit': {
        const content = encodeCommit(request.facts)
        const id = objectIdOf('commit', content)
        const commit = { id, bytes: looseBytes({ type: 'commit', content }) }
        await writeLooseObjects([commit], { folder: objects, temporary, durable: true })
        return id
      }
      case 'ref': {
        const { name, commit } = request
        const ref = new StagedRef(gitDir, { name, commit, temporary: join(temporary, 'ref') })
        fsyncSync(ref.fd)
        await ref.name({ durable: true })
        return undefined
      }
    }
  } finally {
    rmSync(temporary, { recursive: true, force: true })
  }
}

type PackWork = { readonly name: string; readonly temporary: string; readonly away: SetAside }

async function makeIndex(gitDir: string, { name, temporary, away }: PackWork): Promise<boolean> {
  const folder = join(gitDir, 'objects', 'pack')
  const [pack, idx] = [join(folder, `${name}.pack`), join(folder, `${name}.idx`)]
  const made = join(temporary, `${name}.idx`)
  const config = ['-c', 'pack.writeReverseIndex=false', '-c', 'core.sharedRepository=0600']
  const { status } = await tryGit(gitDir, [...config, 'index-pack', '-o', made, pack])
  if (status !== 0) return false
  chmodSync(made, 0o600)
  syncFile(made)
  away.move(idx, 'the index of a pack, damaged')
  renameSync(made, idx)
  syncFolder(folder)
  return true
}
