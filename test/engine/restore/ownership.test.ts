// A checkpoint records owners beside its snapshot. Root gives a restored file only to the owner it was saved with; setuid
// and setgid are restored only for that owner.
import {
  chmodSync,
  chownSync,
  lchownSync,
  lstatSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { inChild } from '../../snapshot/capture/capture-helpers.js'
import { DatabaseSync } from '../../support/own-sqlite.js'
import { type Scratch, scratch } from '../../support/scratch.js'

const isRoot = process.getuid?.() === 0
const [ROOT, SOMEONE, NOBODY] = [0, 12345, 65534]
const [uid, gid] = [process.getuid?.() ?? 0, process.getgid?.() ?? 0]

function ownerAndMode(s: Scratch, path: string): string {
  const stats = lstatSync(join(s.project, path))
  return `${stats.uid}:${stats.gid} ${(stats.mode & 0o7777).toString(8).padStart(4, '0')}`
}

function give(s: Scratch, path: string, to: number): void {
  lchownSync(join(s.project, path), to, to)
}

function ownersInLedger(s: Scratch): unknown[] {
  using database = ledgerOf(s)
  const sql = `SELECT details.json FROM checkpoints JOIN details ON hash = details ORDER BY seq`
  const rows = database.prepare(sql).all() as { readonly json: string }[]
  return rows.map(({ json }) => (JSON.parse(json) as { owners?: unknown }).owners)
}

/** Changes the checkpoint to one of an earlier version. */
function forgetOwners(s: Scratch): void {
  using database = ledgerOf(s)
  database.exec(`UPDATE details SET json = json_remove(json, '$.owners')`)
}

function ledgerOf(s: Scratch) {
  const database = new DatabaseSync(join(s.home, 'ledger.db'))
  return Object.assign(database, { [Symbol.dispose]: () => database.close() })
}

test('a checkpoint records its owners once, and the same ones after another process has read the cache', async () => {
  const many = Object.fromEntries(Array.from({ length: 120 }, (_, i) => [`many/${i}`, 'x']))
  await using s = await scratch({ files: { ...many, 'sub/a': 'a', 'sub/deep/b': 'b', c: 'c' } })
  const others = isRoot ? [{ path: 'sub', uid: SOMEONE, gid: SOMEONE }] : []
  if (isRoot) for (const path of ['sub', 'sub/a', 'sub/deep', 'sub/deep/b']) give(s, path, SOMEONE)
  await inChild(s, 'await project.save()')
  s.write({ 'many/7': 'changed' })
  await inChild(s, 'await project.save()')
  const owners = [{ path: '', uid, gid }, ...others]
  expect(ownersInLedger(s)).toEqual([owners, owners])
})

test('setuid and setgid of a file are restored for the user who saved it', async () => {
  await using s = await scratch({ files: { tool: 'one', both: 'one' } })
  chmodSync(join(s.project, 'tool'), 0o4755)
  chmodSync(join(s.project, 'both'), 0o6755)
  const store = await s.open()
  const project = await store.project(s.project)
  const { id } = await project.save()
  s.write({ tool: null, both: 'two' })
  const { plan } = await project.rewind(id)
  expect(plan.keep).toEqual([])
  expect([ownerAndMode(s, 'tool'), ownerAndMode(s, 'both')]).toEqual([
    `${uid}:${gid} 4755`,
    `${uid}:${gid} 6755`,
  ])
})

describe.each(isRoot ? ['by root:'] : [])('%s', () => {
  test('setuid of another user is not restored for the user who rewinds', async () => {
    await using s = await scratch({ files: { tool: 'one', b: 'one' } })
    const start = { asOrdinaryUser: true, inProcess: true }
    await inChild(s, '', start)
    chmodSync(s.project, 0o777)
    chownSync(join(s.project, 'tool'), SOMEONE, SOMEONE)
    chmodSync(join(s.project, 'tool'), 0o6755)
    const answer = await inChild(
      s,
      `
      const { id } = await project.save({ name: 'first' })
      fs.rmSync(scratch.project + '/tool')
      const { plan } = await project.rewind(id)
      return plan.keep
      `,
      { ...start, keepsOwners: true },
    )
    const reason =
      'mode is 0755, was 6755; setuid and setgid are restored only for the owner they were saved with'
    expect(answer).toEqual([{ path: 'tool', reason }])
    expect(ownerAndMode(s, 'tool')).toBe(`${NOBODY}:${NOBODY} 0755`)
  })

  test('root restores setuid only with its owner, even if a file of root is at the path', async () => {
    await using s = await scratch({
      files: { removed: 'one', replaced: 'one', 'mode-only': 'one' },
    })
    for (const path of ['removed', 'replaced', 'mode-only']) {
      give(s, path, SOMEONE)
      chmodSync(join(s.project, path), 0o4755)
    }
    const store = await s.open()
    const project = await store.project(s.project)
    const { id } = await project.save()
    s.write({ removed: null, 'of-root': 'two' })
    renameSync(join(s.project, 'of-root'), join(s.project, 'replaced'))
    // The same content, owned by root.
    chownSync(join(s.project, 'mode-only'), ROOT, ROOT)
    chmodSync(join(s.project, 'mode-only'), 0o644)
    const { plan } = await project.rewind(id)
    expect(['removed', 'replaced', 'mode-only'].map((path) => ownerAndMode(s, path))).toEqual([
      `${SOMEONE}:${SOMEONE} 4755`,
      `${SOMEONE}:${SOMEONE} 4755`,
      '0:0 0755',
    ])
    expect(plan.keep.map(({ path }) => path)).toEqual(['mode-only'])
  })

  test("root's private files stay root's, even if the owner of the folder removed or replaced them", async () => {
    await using s = await scratch({ files: { removed: 'private', replaced: 'private' } })
    for (const path of ['removed', 'replaced']) chmodSync(join(s.project, path), 0o600)
    chownSync(s.project, SOMEONE, SOMEONE)
    const store = await s.open()
    const project = await store.project(s.project)
    const { id } = await project.save()
    s.write({ removed: null, replaced: 'the attacker has this one' })
    give(s, 'replaced', SOMEONE)
    await project.rewind(id)
    expect(['removed', 'replaced'].map((path) => ownerAndMode(s, path))).toEqual([
      '0:0 0600',
      '0:0 0600',
    ])
    const { safety } = await project.undo()
    expect(safety).not.toBeNull()
    expect(ownerAndMode(s, 'replaced')).toMatch(/^12345:12345 /)
  })

  test('folders, files and links are restored with their owners', async () => {
    await using s = await scratch({ files: { 'sub/deep/a': 'one', 'sub/b': 'one' } })
    symlinkSync('b', join(s.project, 'sub/link'))
    for (const path of ['sub', 'sub/deep', 'sub/deep/a', 'sub/link']) give(s, path, SOMEONE)
    const before = ['sub', 'sub/deep', 'sub/deep/a', 'sub/b', 'sub/link'].map((path) => [
      path,
      ownerAndMode(s, path),
    ])
    const store = await s.open()
    const project = await store.project(s.project)
    const { id } = await project.save()
    rmSync(join(s.project, 'sub'), { recursive: true })
    await project.rewind(id)
    expect(before.map(([path = '']) => [path, ownerAndMode(s, path)])).toEqual(before)
  })

  test('without recorded owners root owns the restored files, without group access, and reports it', async () => {
    await using s = await scratch({
      files: { 'theirs/a': 'one', 'theirs/b': 'one', 'mine/c': 'one' },
    })
    for (const path of ['theirs', 'theirs/a', 'theirs/b']) give(s, path, SOMEONE)
    chmodSync(join(s.project, 'theirs/a'), 0o640)
    chmodSync(join(s.project, 'mine/c'), 0o660)
    const store = await s.open()
    const project = await store.project(s.project)
    const { id } = await project.save()
    forgetOwners(s)
    s.write({ 'theirs/a': null, 'theirs/b': null, 'mine/c': null })
    const notices: string[] = []
    const { plan } = await project.rewind(id, { onWarning: (text) => notices.push(text) })
    expect(['theirs/a', 'theirs/b', 'mine/c'].map((path) => ownerAndMode(s, path))).toEqual([
      '0:0 0600',
      '0:0 0644',
      '0:0 0660',
    ])
    const why = 'its owner is not recorded, or cannot be restored'
    expect(plan.keep).toEqual([
      { path: 'theirs/a', reason: `belongs to root, and its mode is 0600, was 0640: ${why}` },
      { path: 'theirs/b', reason: `belongs to root: ${why}` },
    ])
    expect(notices).toEqual([
      `theirs/a (and 1 more): belongs to root, and its mode is 0600, was 0640: ${why}.`,
    ])
  })

  test('a change of only the owner makes no checkpoint', async () => {
    await using s = await scratch({ files: { a: 'one', 'sub/b': 'one' } })
    const store = await s.open()
    const project = await store.project(s.project)
    const { id } = await project.save()
    for (const path of ['a', 'sub']) give(s, path, SOMEONE)
    expect(await project.save()).toMatchObject({ id, created: false })
  })

  test('an undo restores the owners from before the rewind, even those that no save recorded', async () => {
    await using s = await scratch({ files: { a: 'one' } })
    const store = await s.open()
    const project = await store.project(s.project)
    const { id: first } = await project.save()
    s.write({ a: 'two' })
    await project.save()
    give(s, 'a', SOMEONE)
    await project.rewind(first)
    expect(ownerAndMode(s, 'a')).toBe('0:0 0644')
    await project.undo()
    expect(ownerAndMode(s, 'a')).toBe(`${SOMEONE}:${SOMEONE} 0644`)
  })

  test('forgetting a path removes its recorded owner too', async () => {
    await using s = await scratch({ files: { 'sub/secret-name': 'one', a: 'one' } })
    give(s, 'sub/secret-name', SOMEONE)
    const store = await s.open()
    await (await store.project(s.project)).save()
    await (await store.project(s.project)).forget('sub/secret-name')
    await store.close()
    expect(JSON.stringify(ownersInLedger(s))).not.toContain('secret-name')
  })
})
