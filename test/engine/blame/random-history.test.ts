// Blame against a model that tracks the owner of each line: random edits, saves, renames, rewinds and undos of one file.
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { tries } from '../../support/test-budget.js'
import { scratch } from '../../support/scratch.js'

type Act =
  | { readonly type: 'insert' | 'remove' | 'retype'; readonly at: number }
  | { readonly type: 'save' | 'rename' | 'undo' }
  | { readonly type: 'rewind'; readonly to: number }

const at = fc.nat(1000)
const act: fc.Arbitrary<Act> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ type: fc.constant('insert' as const), at }) },
  { weight: 3, arbitrary: fc.record({ type: fc.constant('remove' as const), at }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('retype' as const), at }) },
  { weight: 4, arbitrary: fc.constant({ type: 'save' as const }) },
  { weight: 1, arbitrary: fc.constant({ type: 'rename' as const }) },
  { weight: 2, arbitrary: fc.record({ type: fc.constant('rewind' as const), to: fc.nat(1000) }) },
  { weight: 1, arbitrary: fc.constant({ type: 'undo' as const }) },
)

/** `owner` is the id of a checkpoint, OLDER or FOLDER. */
type Line = { readonly text: string; readonly owner: string }
const [OLDER, FOLDER] = ['older', 'folder']
const FIRST = Array.from({ length: 8 }, (_, n) => `at first ${n}`)

test('each line has the checkpoint that a model of the edits expects', async () => {
  await using s = await scratch()
  const store = await s.open()
  let number = 0
  await fc.assert(
    fc.asyncProperty(fc.array(act, { minLength: 5, maxLength: 30 }), async (acts) => {
      number += 1
      const root = join(s.folder, `p${number}`)
      mkdirSync(root)
      let name = 'file0.txt'
      let lines: readonly Line[] = FIRST.map((text) => ({ text, owner: OLDER }))
      let next = 0
      const textOf = () => lines.map(({ text }) => `${text}\n`).join('')
      const writeNow = () => writeFileSync(join(root, name), textOf())
      writeNow()
      const project = await store.project(root)
      const { id: first } = await project.save()
      const states = new Map([[first, { name, lines }]])
      let saved: ReadonlySet<string> = new Set(FIRST)
      const removed: string[] = []
      /** The owners of the lines of each content, as of the last time that it was saved. */
      const seen = new Map([[textOf(), lines]])

      const commit = (id: string) => {
        lines = lines.map((line) => (line.owner === FOLDER ? { ...line, owner: id } : line))
        remember(id)
      }
      const remember = (id: string) => {
        states.set(id, { name, lines })
        seen.set(textOf(), lines)
        saved = new Set(lines.map(({ text }) => text))
      }
      const restored = (result: Awaited<ReturnType<typeof project.rewind>>) => {
        const { safety, checkpoint } = result
        if (safety !== null && !states.has(safety)) commit(safety)
        const found = [...states.values()].find(({ name: known }) => existsAs(root, known))
        name = found?.name ?? name
        const content = readFileSync(join(root, name), 'utf8')
        const owners = seen.get(content)
        if (checkpoint === null || owners === undefined) throw new Error('nothing was restored')
        lines = owners
        remember(checkpoint)
      }

      for (const one of acts) {
        switch (one.type) {
          case 'insert': {
            const place = one.at % (lines.length + 1)
            next += 1
            lines = lines.toSpliced(place, 0, { text: `inserted ${next}`, owner: FOLDER })
            break
          }
          case 'remove': {
            if (lines.length < 6) break
            const place = one.at % lines.length
            removed.push(lines[place]?.text ?? '')
            lines = lines.toSpliced(place, 1)
            break
          }
          case 'retype': {
            // A line that moved since the last save may be matched in two ways.
            const text = removed[one.at % Math.max(1, removed.length)]
            const isThere = lines.some((line) => line.text === text)
            if (text === undefined || isThere || saved.has(text)) break
            lines = lines.toSpliced(one.at % (lines.length + 1), 0, { text, owner: FOLDER })
            break
          }
          case 'save': {
            const { id, created } = await project.save()
            if (created) commit(id)
            break
          }
          case 'rename': {
            // Only a rename of a whole content is certain to be found.
            if (lines.some(({ owner }) => owner === FOLDER) || lines.length !== saved.size) break
            next += 1
            renameSync(join(root, name), join(root, `file${next}.txt`))
            name = `file${next}.txt`
            break
          }
          case 'rewind': {
            const ids = [...states.keys()]
            const to = ids[one.to % ids.length] ?? first
            const plan = await project.rewind(to, { dryRun: true })
            if (plan.plan.write.length + plan.plan.remove.length === 0) break
            restored(await project.rewind(to))
            break
          }
          case 'undo': {
            const { undo } = await project.reversals()
            if (undo === null) break
            const { plan } = await project.undo({ dryRun: true })
            // An undo next to later edits is a conflict, or merges nothing.
            if (lines.some(({ owner }) => owner === FOLDER) || plan.conflict.length > 0) break
            if (plan.write.length + plan.remove.length === 0) break
            restored(await project.undo())
            break
          }
        }
        writeNow()
      }
      const blamed = await project.blame(name)
      expect(
        blamed.lines.map((line) => ({ text: line.text, owner: line.checkpoint ?? line.source })),
      ).toEqual(lines)
      const from = Math.min(3, lines.length)
      const part = await project.blame(name, { from, to: from + 1 })
      expect(part.lines).toEqual(blamed.lines.slice(from - 1, from + 1))
    }),
    { numRuns: tries(60) },
  )
})

function existsAs(root: string, name: string): boolean {
  try {
    readFileSync(join(root, name))
    return true
  } catch {
    return false
  }
}
