// Random sequences of save, rewind, undo, redo, pin, name, prune, forget and verify, with changing rules, git branches and a
// second editing process in between, compared with a model. `npm run torture:model` runs longer.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { tries } from '../support/test-budget.js'

const PROGRAM = fileURLToPath(new URL('../../build/torture/model.js', import.meta.url))
const FIXED_SEED = 1
const OPERATIONS = tries(20_000, 600)

test.each([
  ['the same seed as always', FIXED_SEED],
  ['a seed of its own', Date.now() % 1_000_000],
])(
  'the program and the model agree after every operation: %s',
  async (_, seed) => {
    const args = ['--operations', String(OPERATIONS), '--seed', String(seed)]
    const child = spawn(process.execPath, [PROGRAM, ...args])
    let text = ''
    child.stdout.on('data', (part) => (text += String(part)))
    child.stderr.on('data', (part) => (text += String(part)))
    const [code] = (await once(child, 'close')) as [number | null]
    // A failure prints the seed and the step, so that it can be repeated.
    expect({ code, text }).toEqual({
      code: 0,
      text: expect.stringContaining('The program and the model agree.'),
    })
  },
  600_000,
)
