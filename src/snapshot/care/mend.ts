// Puts right what is derived, and takes what is damaged out of the way. Each step leaves the store as it was or better,
// wherever it is stopped: what is new is complete before what is old goes.
import { chmodSync, fsyncSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { isError, type ObjectId } from '../../model/index.js'
import { SetAside, syncFile, syncFolder } from '../../system/index.js'
import { tryGit } from '../git/git-program.js'
import { type CommitFacts, encodeCommit, StagedRef } from '../objects/commit.js'
import { looseBytes, loosePath, writeLooseObjects } from '../objects/loose.js'
import { objectIdOf } from '../objects/object-id.js'
import { PackWriter } from '../objects/pack-writer.js'
import { ensureRepository, type RepositoryFile, writeRepositoryFile } from '../repository.js'
import { type ObjectContent, PackFile } from './pack-file.js'
import { readPackIndexFile } from './pack-index-file.js'

export type MendRequest =
  | { readonly type: 'folders' }
  | { readonly type: 'repository'; readonly file: RepositoryFile }
  | { readonly type: 'loose'; readonly id: ObjectId }
  /** Makes the index of a pack again; if that cannot be, saves what the pack still holds. */
  | { readonly type: 'index'; readonly name: string }
  /** Writes what a damaged pack still holds anew, and sets it aside. */
  | { readonly type: 'pack'; readonly name: string }
  | { readonly type: 'commit'; readonly facts: CommitFacts }
  | { readonly type: 'ref'; readonly name: string; readonly commit: ObjectId }

export type MendPlace = { readonly home: string; readonly aside: string }

/** The id of the commit that was written; undefined for anything else. */
export async function mend(
  { home, aside }: MendPlace,
  request: MendRequest,
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
          await savePack(objects, { name: request.name, temporary, away })
        return undefined
      case 'pack':
        await savePack(objects, { name: request.name, temporary, away })
        return undefined
      case 'commit': {
        const content = encodeCommit(request.facts)
        const id = objectIdOf('commit', content)
        const commit = { id, bytes: looseBytes({ type: 'commit', content }) }
        await writeLooseObjects([commit], { folder: objects, temporary, durably: { also: [] } })
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

/** Every object that can be read goes into a new pack; then the old one is set aside. */
async function savePack(objects: string, { name, temporary, away }: PackWork): Promise<void> {
  const folder = join(objects, 'pack')
  const path = join(folder, `${name}.pack`)
  const file = openIfThere(path, readPackIndexFile(join(folder, `${name}.idx`), { quick: false }))
  if (file !== undefined) {
    const writer = new PackWriter(folder, join(temporary, 'pack'))
    let count = 0
    const seen = new Set<ObjectId>()
    for (const { id, type, content } of file.objects()) {
      if (seen.has(id)) continue
      seen.add(id)
      writer.addObject(id, type, content)
      count += 1
    }
    if (count === 0) writer.abandon()
    else await writer.finish({ durable: true })
    file.close()
  }
  for (const ending of ['idx', 'rev', 'bitmap', 'mtimes', 'pack'])
    away.move(join(folder, `${name}.${ending}`), 'a damaged pack; what could be read is in another')
}

type Objects = Generator<ObjectContent & { readonly id: ObjectId }>

function openIfThere(
  path: string,
  index: ReturnType<typeof readPackIndexFile>,
): { objects(): Objects; close(): void } | undefined {
  let file: PackFile
  try {
    file = new PackFile(path, index)
  } catch (error) {
    if (isError(error) && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
  const listed = function* (): Objects {
    for (let place = 0; place < (index?.count ?? 0); place++) {
      const id = index?.idAt(place)
      const found = id === undefined ? undefined : file.read(id)
      if (id !== undefined && found !== undefined) yield { id, ...found }
    }
  }
  return {
    objects: index === undefined ? () => file.inOrder() : listed,
    close: () => file.close(),
  }
}
