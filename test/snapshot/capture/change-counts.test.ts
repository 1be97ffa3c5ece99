// The change counts of a checkpoint equal git's, whether the capture counted them (only contents of known files changed) or
// git did.
import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { tries } from '../../support/test-budget.js'
import { type FileSpec, scratch } from '../../support/scratch.js'

const line = fc.constantFrom('a\n', 'b\n', '}\n', '\n', 'no end', '\0')
const text = fc.array(line, { maxLength: 6 }).map((lines) => lines.join(''))
const file: fc.Arbitrary<FileSpec> = fc.oneof(
  { weight: 6, arbitrary: text },
  { weight: 1, arbitrary: fc.record({ content: text, mode: fc.constantFrom(0o600, 0o755) }) },
  { weight: 1, arbitrary: fc.record({ link: fc.constantFrom('a', 'b') }) },
  { weight: 1, arbitrary: fc.constant(null) },
)
const edits = fc.dictionary(fc.constantFrom('x', 'y', 'd/z'), file, { minKeys: 1, maxKeys: 3 })

test.each([{ watch: false }, { watch: true }])(
  'random edits have the counts of git, watched: $watch',
  async ({ watch }) => {
    await fc.assert(
      fc.asyncProperty(fc.array(edits, { minLength: 1, maxLength: 5 }), async (rounds) => {
        await using s = await scratch({ files: { x: 'a\nb\n', y: 'a\n', 'd/z': 'b\n' } })
        const store = await s.open()
        const project = await store.project(s.project, { watch })
        let { id: before } = await project.save()
        for (const files of rounds) {
          // A file must exist before it is removed.
          s.write(Object.fromEntries(Object.keys(files).map((name) => [name, ''])))
          s.write(files)
          const saved = await project.save()
          if (!saved.created) continue
          const difference = await project.diff(before, { to: saved.id, patch: 'none' })
          expect(countsOf(saved)).toEqual(countsOf(difference))
          before = saved.id
        }
      }),
      { seed: 21, numRuns: tries(40) },
    )
  },
)

test('counts are right if the old content is in a pack, from another process, or gone', async () => {
  await using s = await scratch({ files: { x: 'a\nb\n', y: 'a\n' } })
  s.allowDamage()
  const first = await s.open()
  await (await first.project(s.project)).save()
  await first.close()
  s.git(['repack', '-q', '-a', '-d', '-f'], { cwd: join(s.home, 'objects.git') })
  const second = await s.open()
  const project = await second.project(s.project)
  s.write({ x: 'a\nb\nc\n' })
  const one = { files: 1, insertions: 1, deletions: 0 }
  expect(await project.save()).toMatchObject(one)
  const packs = join(s.home, 'objects.git', 'objects', 'pack')
  for (const name of readdirSync(packs)) rmSync(join(packs, name))
  s.write({ y: 'a\nb\n' })
  expect(await project.save()).toMatchObject({ created: true })
})

function countsOf({
  files,
  insertions,
  deletions,
}: {
  readonly files: number
  readonly insertions: number
  readonly deletions: number
}) {
  return { files, insertions, deletions }
}
