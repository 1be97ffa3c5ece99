import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { failureLog } from '../../../src/daemon/server/serve.js'

test('the log keeps the newest failures, stays small, and is private', () => {
  const folder = mkdtempSync(join(tmpdir(), 'savestate-log-'))
  try {
    const log = failureLog({ folder })
    for (let number = 0; number < 1000; number += 1) log(new Error(`failure ${number}`))
    log('x'.repeat(1 << 20))
    log(new Error('the last one'))
    const path = join(folder, 'log')
    expect(readFileSync(path, 'utf8')).toMatch(/failure 999\n[^]*the last one\n/)
    expect(statSync(path).size).toBeLessThanOrEqual(64 << 10)
    expect(statSync(path).mode & 0o777).toBe(0o600)
    rmSync(folder, { recursive: true })
    log(new Error('nowhere to tell it'))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})
