// A short run of the torture program for shared sessions. `npm run torture:shared` runs longer.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { isLong } from '../support/test-budget.js'

const PROGRAM = fileURLToPath(new URL('../../build/torture/shared.js', import.meta.url))
const MINUTES = isLong ? 2 : 0.2

test('hosts that are killed and cut off lose nothing that was acknowledged', async () => {
  const child = spawn(process.execPath, [PROGRAM, '--minutes', String(MINUTES)])
  const output: string[] = []
  child.stdout.on('data', (text) => output.push(String(text)))
  child.stderr.on('data', (text) => output.push(String(text)))
  const [code] = (await once(child, 'close')) as [number | null]
  // The output contains the seed, so that a failure can be repeated.
  expect({ code, text: output.join('') }).toEqual({
    code: 0,
    text: expect.stringContaining('Nothing acknowledged is missing or different.'),
  })
}, 240_000)
