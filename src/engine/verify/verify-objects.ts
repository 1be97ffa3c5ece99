// Checks the git repository of the store: its own files, its packs and its loose objects.
import { existsSync, readdirSync, rmSync } from 'node:fs'
import { basename, join, relative } from 'node:path'
import type { ObjectRepair, ObjectReport } from '../../snapshot/index.js'
import {
  type RepairContext,
  type Finding,
  finding,
  type Fix,
  quarantine,
  type Stage,
} from './findings.js'

const PACK_FAULTS: Readonly<Record<ObjectReport['packs'][number]['fault'], string>> = {
  'no-index': 'a pack has no index',
  'index-damaged': 'the index of a pack is damaged',
  'no-pack': 'an index has no pack',
  'pack-damaged': 'a pack is damaged',
}
const NOT_NEEDED = 'damaged, but git does not need it'

export function checkObjectFiles({ home }: RepairContext, report: ObjectReport): Finding[] {
  const packs = report.packs.map(({ name, fault }) => {
    const isIndex = fault === 'no-index' || fault === 'index-damaged'
    const action = isIndex
      ? `rebuild the index of ${name}`
      : `copy what can be read of ${name} to a new pack, and quarantine it`
    const ending = fault === 'index-damaged' || fault === 'no-pack' ? 'idx' : 'pack'
    const path = `objects.git/objects/pack/${name}.${ending}`
    const fix = repairObjects({ type: isIndex ? 'index' : 'pack', name }, action)
    // A process was killed before it renamed the index; the next save or collection does that.
    const isUnfinished = fault === 'no-index' && isIndexWaiting(home, name)
    return isUnfinished
      ? finding('leftover', PACK_FAULTS[fault], { path, fix, severity: 'note' })
      : finding('objects', PACK_FAULTS[fault], { path, fix })
  })
  const loose = report.damagedLoose.map((id) => {
    const path = `objects.git/objects/${id.slice(0, 2)}/${id.slice(2)}`
    const fix = repairObjects({ type: 'loose', id }, `quarantine the damaged object ${id}`)
    return finding('objects', `object ${id} is damaged`, { path, fix })
  })
  const derived = report.derived.map((absolute) => {
    const path = relative(home, absolute)
    return finding('objects', NOT_NEEDED, {
      path,
      fix: quarantine(path, { stage: 'objects', why: NOT_NEEDED }),
    })
  })
  return [...packs, ...loose, ...derived]
}

/** Without these git does not recognize the repository, and nothing in it can be checked. */
export function checkRepository({ home }: RepairContext, report: ObjectReport): Finding[] {
  const folders = report.folders.map((name) =>
    finding('repository', 'git does not recognize the repository without this folder', {
      path: join('objects.git', name),
      fix: repairObjects({ type: 'folders' }, 'recreate it', 'repository'),
    }),
  )
  const files = report.repository.map((file) =>
    finding('repository', 'does not contain what the installed git needs', {
      path: join('objects.git', file),
      fix: repairObjects({ type: 'repository', file }, `rewrite ${file}`, 'repository'),
    }),
  )
  const refs = report.refs.malformed.map((absolute) => {
    const path = relative(home, absolute)
    const fix = quarantine(path, { stage: 'repository', why: 'contains no ref' })
    return finding('ref', 'contains no ref; repair recreates it from the ledger', { path, fix })
  })
  return [...folders, ...files, ...refs]
}

function repairObjects(request: ObjectRepair, action: string, stage: Stage = 'objects'): Fix {
  return {
    stage,
    action,
    async run({ store, aside }) {
      // The caches name objects that the store is about to lose.
      if (stage === 'objects') removeCaches(store)
      await store.snapshots.mend(request, aside)
    },
  }
}

export function removeCaches({ home }: Pick<RepairContext, 'home'>): void {
  rmSync(join(home, 'cache'), { recursive: true, force: true })
}

function isIndexWaiting(home: string, name: string): boolean {
  const folder = join(home, 'tmp')
  if (!existsSync(folder)) return false
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  return files.some((file) => basename(file) === `${name}.idx`)
}
