// I3 as a property: programs write the files of a project, in place and by rename, during repeated rewinds. Every content
// that a rewind removed from its path is in a checkpoint or in the folder. Runs for a few seconds;
// SAVESTATE_WRITERS_MS=60000 runs it for a minute.
import { execFileSync, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { isLong } from '../../support/test-budget.js'
import { scratch } from '../../support/scratch.js'

const WRITERS = fileURLToPath(new URL('../../support/fast-writers.mjs', import.meta.url))
const DURATION_MS = Number(process.env['SAVESTATE_WRITERS_MS'] ?? (isLong ? 60_000 : 4000))
/** Long enough for some rewinds to complete, short enough to disturb all others. */
const LONGEST_PAUSE_MS = 120

type Written = {
  readonly writes: number
  readonly replaced: readonly string[]
  readonly tooLate: readonly string[]
}

test(
  'no content that a program writes while a rewind replaces or removes its file is lost',
  async () => {
    const names = ['in-place-1', 'in-place-2', 'by-rename-1', 'by-rename-2']
    const files = Object.fromEntries(names.map((name) => [name, `the first ${name}\n`]))
    await using s = await scratch({ files: { ...files, 'deep/in-place': 'one\n', keep: 'same\n' } })
    const project = await (await s.open()).project(s.project)
    const { id: first } = await project.save()
    s.write({ deep: null, ...Object.fromEntries(names.slice(1).map((name) => [name, null])) })
    const { id: second } = await project.save()
    s.write({ deep: { folder: 0o755 } })

    const seed = String(Date.now() % 1_000_000)
    const child = spawn(process.execPath, [WRITERS, s.project, seed, String(LONGEST_PAUSE_MS)])
    const output: string[] = []
    child.stdout.on('data', (text) => output.push(String(text)))
    child.stderr.on('data', (text) => output.push(String(text)))
    const counts = { done: 0, disturbed: 0 }
    const end = Date.now() + DURATION_MS
    for (let turn = 0; Date.now() < end; turn++) {
      const to = turn % 2 === 0 ? first : second
      await project.rewind(to).then(
        () => (counts.done += 1),
        (error: unknown) => {
          // The capture may also fail on a file that keeps changing.
          expect(error).toMatchObject({
            code: expect.stringMatching(/^REWIND_(?:DISTURBED|CONFLICT)$/),
          })
          counts.disturbed += 1
        },
      )
    }
    child.stdin.end()
    const [code] = (await once(child, 'close')) as [number | null]
    expect({ code, text: code === 0 ? '' : output.join('') }).toEqual({ code: 0, text: '' })

    const { writes, replaced, tooLate } = JSON.parse(output.join('')) as Written
    const git = ['--git-dir', join(s.home, 'objects.git'), 'rev-list', '--all', '--objects']
    const lines = execFileSync('git', git, { encoding: 'utf8', maxBuffer: 1 << 28 }).split('\n')
    const saved = new Set(lines.map((line) => line.slice(0, 40)))
    const inFolder = new Set(
      [...s.snapshotOf()].flatMap(([path, { type }]) =>
        type === 'file' ? readFileSync(join(s.project, path), 'utf8') : [],
      ),
    )
    const isLost = (text: string) => !saved.has(blobOf(text)) && !inFolder.has(text)
    const lost = replaced.filter(isLost)
    process.stderr.write(
      `fast writers: seed ${seed}, ${counts.done} rewinds, ${counts.disturbed} disturbed, ${writes} writes, ${replaced.length} replaced, ${lost.length} lost, ${tooLate.length} written to a removed file\n`,
    )
    expect(lost.filter((text) => !tooLate.includes(text))).toEqual([])
    expect(replaced.length).toBeGreaterThan(0)
    expect([...s.snapshotOf().keys()].filter((path) => path.includes('.savestate-'))).toEqual([])
  },
  DURATION_MS + 120_000,
)

function blobOf(text: string): string {
  return createHash('sha1')
    .update(`blob ${Buffer.byteLength(text)}\0${text}`)
    .digest('hex')
}
