// Finds rows with values that Savestate never writes. The usual readers throw at the first such row; this reports each one, so that
// the other rows can still be used.
import {
  SavestateError,
  STATUS_WORDS,
  parseCheckpointId,
  parseObjectId,
  parseProjectId,
} from '../../model/index.js'
import type { Database, SqlRow } from '../../system/index.js'

export type RowFault = {
  readonly table: 'projects' | 'checkpoints' | 'sessions' | 'operations'
  readonly rowid: number
  /** As stored: it may be invalid itself. */
  readonly id: string
  readonly message: string
}

type Check = (row: SqlRow) => void

const CHECKS: Readonly<Record<RowFault['table'], Check>> = {
  projects(row) {
    parseProjectId(textIn(row, 'id'))
    expect(row['path'] instanceof Uint8Array && row['path'][0] === 0x2f, 'its path is not valid')
  },
  checkpoints(row) {
    parseCheckpointId(textIn(row, 'id'))
    if (row['project'] !== null) parseProjectId(textIn(row, 'project'))
    if (row['parent'] !== null) parseCheckpointId(textIn(row, 'parent'))
    if (row['session'] !== null) checkStatus(row)
    if (row['tree'] === null) {
      expect(row['session'] !== null, 'it has neither files nor a session')
      return
    }
    parseObjectId(textIn(row, 'tree'))
    parseObjectId(textIn(row, 'commit'))
    expect(row['project'] !== null, 'it has files and no project')
    for (const column of ['files', 'insertions', 'deletions', 'file_count', 'size_bytes'])
      expect(typeof row[column] === 'number', `its ${column} is not a number`)
    JSON.parse(textIn(row, 'skipped_counts'))
  },
  sessions(row) {
    checkStatus(row)
    if (row['head'] !== null) parseCheckpointId(textIn(row, 'head'))
    if (row['lease_owner'] !== null) JSON.parse(textIn(row, 'lease_owner'))
  },
  operations(row) {
    parseCheckpointId(textIn(row, 'safety'))
    parseCheckpointId(textIn(row, 'result'))
  },
}

export function findRowFaults(database: Database): RowFault[] {
  const tables = Object.keys(CHECKS) as RowFault['table'][]
  return tables.flatMap((table) =>
    database.all(`SELECT rowid AS number, * FROM ${table}`).flatMap((row): RowFault[] => {
      const message = findFault(row, CHECKS[table])
      if (message === undefined) return []
      return [{ table, rowid: Number(row['number']), id: String(row['id']), message }]
    }),
  )
}

class InvalidRow extends Error {}

function findFault(row: SqlRow, check: Check): string | undefined {
  try {
    check(row)
    return undefined
  } catch (error) {
    const isExpected = error instanceof InvalidRow || error instanceof SyntaxError
    if (isExpected || (error instanceof SavestateError && error.code === 'BAD_INPUT'))
      return error.message
    throw error
  }
}

function textIn(row: SqlRow, column: string): string {
  const value = row[column]
  if (typeof value !== 'string') throw new InvalidRow(`its ${column} is not text`)
  return value
}

function expect(isTrue: boolean, message: string): void {
  if (!isTrue) throw new InvalidRow(message)
}

function checkStatus(row: SqlRow): void {
  const isValid = STATUS_WORDS.some((word) => word === row['status'])
  expect(isValid, 'its status is not valid')
}
