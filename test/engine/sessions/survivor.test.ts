// The agent of the README: killed again and again, it ends with ten thoughts, each saved once.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { scratch } from '../../support/scratch.js'

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))
const EXAMPLE = readFileSync(join(ROOT, 'examples/survivor.mjs'), 'utf8')

test('the README shows the example unchanged', () => {
  expect(readFileSync(join(ROOT, 'README.md'), 'utf8')).toContain(`\`\`\`js\n${EXAMPLE}\`\`\``)
  expect(EXAMPLE.trimEnd().split('\n').length).toBeLessThanOrEqual(31)
})

test('the example, killed at every step, saves ten thoughts in order and once', async () => {
  await using s = await scratch()
  mkdirSync(join(s.folder, 'node_modules'))
  symlinkSync(ROOT, join(s.folder, 'node_modules', 'savestate'))
  const file = join(s.folder, 'survivor.mjs')
  writeFileSync(file, EXAMPLE)
  const saved: string[] = []
  for (let run = 0; run < 30; run++) {
    const { output, signal } = await runUntilStep(file, s.home, run < 8 ? 1 + (run % 2) : Infinity)
    saved.push(...output.split('\n').filter((line) => line.startsWith('Step ')))
    if (signal === null) break
  }
  expect(saved).toEqual(Array.from({ length: 10 }, (_, n) => `Step ${n} is saved: thought ${n}.`))
  const session = await (await s.open()).session('ten thoughts')
  expect((await session.stateAt())?.messages?.length).toBe(10)
})

/** Killed once it has said that so many steps are saved. */
async function runUntilStep(
  file: string,
  home: string,
  steps: number,
): Promise<{ readonly output: string; readonly signal: NodeJS.Signals | null }> {
  const child = spawn(process.execPath, [file], {
    env: { ...process.env, SAVESTATE_HOME: home },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let output = ''
  child.stdout.on('data', (text: Buffer) => {
    output += text.toString()
    if (output.split('Step ').length > steps) child.kill('SIGKILL')
  })
  await once(child, 'close')
  return { output, signal: child.signalCode }
}
