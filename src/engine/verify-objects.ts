// The repository of the store: its own files, its packs and loose objects, and what checkpoints lack by them.
import { existsSync, readdirSync, rmSync } from 'node:fs'
import { basename, join, relative } from 'node:path'
import type { MendRequest, ObjectReport } from '../snapshot/index.js'
import type { CareContext, Finding, Fix, RepairTools } from './findings.js'

const PACK_FAULTS: Readonly<Record<ObjectReport['packs'][number]['fault'], string>> = {
  'no-index': 'a pack has no index',
  'index-damaged': 'the index of a pack is damaged',
  'no-pack': 'an index has no pack',
  'pack-damaged': 'a pack is damaged',
}

export function checkObjectFiles({ home }: CareContext, report: ObjectReport): Finding[] {
  const inGit = (name: string) => join('objects.git', name)
  const damage = { checkpoint: null, severity: 'damage', repairable: true } as const
  const missing = report.folders.map((name): Finding => {
    const message = 'git does not recognize the repository without this folder'
    const fix = mending({ type: 'folders' }, { stage: 'repository', action: 'recreate it' })
    return { ...damage, kind: 'repository', message, path: inGit(name), fix }
  })
  const files = report.repository.map((file): Finding => {
    const fix = mending(
      { type: 'repository', file },
      { stage: 'repository', action: `rewrite ${file}` },
    )
    return {
      ...damage,
      kind: 'repository',
      message: 'does not contain what the installed git needs',
      path: inGit(file),
      fix,
    }
  })
  const refs = report.refs.malformed.map((path): Finding => {
    const fix = settingAside(path, { stage: 'repository', why: 'contains no ref' })
    const message = 'contains no ref; repair recreates it from the ledger'
    return { ...damage, kind: 'ref', message, path: relative(home, path), fix }
  })
  const loose = report.damagedLoose.map((id): Finding => {
    const path = inGit(join('objects', id.slice(0, 2), id.slice(2)))
    const action = `quarantine the damaged object ${id}`
    const fix = mending({ type: 'loose', id }, { stage: 'objects', action })
    return { ...damage, kind: 'objects', message: `object ${id} is damaged`, path, fix }
  })
  const packs = report.packs.map(({ name, fault }): Finding => {
    const ending = fault === 'index-damaged' || fault === 'no-pack' ? 'idx' : 'pack'
    const path = inGit(`objects/pack/${name}.${ending}`)
    const isIndex = fault === 'no-index' || fault === 'index-damaged'
    const action = isIndex
      ? `rebuild the index of ${name}`
      : `copy what can be read of ${name} to a new pack, and quarantine it`
    const fix = mending({ type: isIndex ? 'index' : 'pack', name }, { stage: 'objects', action })
    // A kill between the two names of a pack: its index waits for the next save, or for the end of a collection.
    const isUnfinished = fault === 'no-index' && isIndexWaiting(home, name)
    const severity = isUnfinished ? 'note' : 'damage'
    const kind = isUnfinished ? 'leftover' : 'objects'
    return { ...damage, kind, severity, message: PACK_FAULTS[fault], path, fix }
  })
  const derived = report.derived.map((path): Finding => {
    const fix = settingAside(path, { stage: 'objects', why: 'damaged, but git does not need it' })
    const message = 'damaged, but git does not need it'
    return { ...damage, kind: 'objects', message, path: relative(home, path), fix }
  })
  return [...missing, ...files, ...refs, ...packs, ...loose, ...derived]
}

function mending(request: MendRequest, { stage, action }: Pick<Fix, 'stage' | 'action'>): Fix {
  return {
    stage,
    action,
    async run({ care, aside }) {
      // A cache believes that the store has what it is about to lose.
      if (stage === 'objects') removeCaches(care)
      await care.snapshots.mend(request, aside)
    },
  }
}

function settingAside(path: string, { stage, why }: { stage: Fix['stage']; why: string }): Fix {
  return {
    stage,
    action: `quarantine ${path}`,
    run: ({ away }: RepairTools) => void away.move(path, why),
  }
}

export function removeCaches({ home }: Pick<CareContext, 'home'>): void {
  rmSync(join(home, 'cache'), { recursive: true, force: true })
}

function isIndexWaiting(home: string, name: string): boolean {
  const folder = join(home, 'tmp')
  if (!existsSync(folder)) return false
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  return files.some((file) => basename(file) === `${name}.idx`)
}
