// A short run of the torture program. `npm run torture` runs longer.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { isLong } from '../support/test-budget.js'

const PROGRAM = fileURLToPath(new URL('../../build/torture/main.js', import.meta.url))
const FIXED_SEED = 4
const MINUTES = isLong ? 0.5 : 0.05

test.each([
  ['the same seed as always', FIXED_SEED],
  ['a seed of its own', Date.now() % 1_000_000],
])(
  'processes that are killed at random lose nothing that was acknowledged: %s',
  async (_, seed) => {
    const args = ['--minutes', String(MINUTES), '--seed', String(seed), '--processes', '3']
    const child = spawn(process.execPath, [PROGRAM, ...args])
    const output: string[] = []
    child.stdout.on('data', (text) => output.push(String(text)))
    child.stderr.on('data', (text) => output.push(String(text)))
    const [code] = (await once(child, 'close')) as [number | null]
    // The output contains the seed, so that a failure can be repeated.
    expect({ code, text: output.join('') }).toEqual({
      code: 0,
      text: expect.stringContaining('Nothing acknowledged is missing or different.'),
    })
    process.stderr.write(`torture: seed ${seed}, ${output.join('').split('\n')[1] ?? ''}\n`)
  },
  300_000,
)
