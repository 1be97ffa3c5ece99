import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { createLedger } from '../../../src/ledger/maintenance/copy-rows.js'
import { openDatabase } from '../../../src/system/index.js'

test('a ledger that cannot be created is closed', () => {
  const folder = mkdtempSync(join(tmpdir(), 'savestate-create-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const path = join(folder, 'new.db')
  const other = openDatabase(path, { timeoutMs: 0 })
  other.exec('PRAGMA file.journal_mode = WAL; PRAGMA file.user_version = 99')
  other.close()
  expect(() => createLedger(path)).toThrow(expect.objectContaining({ code: 'STORE_NEWER' }))
  // SQLite removes its log when the last connection closes.
  expect(readdirSync(folder)).toEqual(['new.db'])
})
