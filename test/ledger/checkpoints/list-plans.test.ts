// The queries behind `list` and short ids read as many rows as they return, however many checkpoints the store has.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parseProjectId } from '../../../src/model/index.js'
import { type Database, openDatabase, type SqlValue } from '../../../src/system/index.js'
import { Checkpoints } from '../../../src/ledger/checkpoints/checkpoints.js'
import { createTables } from '../../../src/ledger/schema.js'

/** The steps of the query plans of all statements that `work` runs. */
function plansOf(work: (checkpoints: Checkpoints) => void): string[] {
  const folder = mkdtempSync(join(tmpdir(), 'savestate-plans-'))
  const database = openDatabase(join(folder, 'ledger.db'), { timeoutMs: 1000 })
  try {
    createTables(database)
    const steps: string[] = []
    const explain = (sql: string, values: readonly SqlValue[]) => {
      for (const row of database.all(`EXPLAIN QUERY PLAN ${sql}`, ...values))
        steps.push(String(row['detail']))
    }
    const recording: Database = {
      ...database,
      get(sql, ...values) {
        explain(sql, values)
        return database.get(sql, ...values)
      },
      all(sql, ...values) {
        explain(sql, values)
        return database.all(sql, ...values)
      },
    }
    work(new Checkpoints(recording))
    return steps
  } finally {
    database.close()
    rmSync(folder, { recursive: true })
  }
}

const PROJECT = parseProjectId('b'.repeat(18))

test('a list with a limit follows the index of its project and sorts nothing', () => {
  const plan = plansOf((checkpoints) => checkpoints.briefs({ project: PROJECT, limit: 20 }))
  expect(plan).toContain('SEARCH checkpoints USING INDEX checkpoints_by_project (project=?)')
  expect(plan.filter((step) => /TEMP B-TREE|SCAN checkpoints/.test(step))).toEqual([])
})

test('a list of all projects with a limit follows the order of the rows', () => {
  const plan = plansOf((checkpoints) => checkpoints.briefs({ limit: 20 }))
  expect(plan.filter((step) => step.includes('TEMP B-TREE'))).toEqual([])
})

test('short ids and references by prefix search the index of ids', () => {
  const byId = /^SEARCH checkpoints USING (COVERING )?INDEX sqlite_autoindex_checkpoints_1 \(id[<>]/
  const idSearches = (work: (checkpoints: Checkpoints) => void) =>
    plansOf(work).filter((step) => step.includes(' checkpoints') && !byId.test(step))
  expect(idSearches((checkpoints) => checkpoints.neighborsOf('bcdf'))).toEqual([])
  const byPrefix = (checkpoints: Checkpoints) =>
    checkpoints.byPrefix({ project: PROJECT }, 'bcdf', { limit: 2 })
  expect(idSearches(byPrefix)).toEqual([])
})
