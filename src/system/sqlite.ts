// The only file that imports the SQLite driver, so that it can be replaced (docs/decisions/0002).
// It ships prebuilt binaries inside its npm package: no install script has to run.
import { DatabaseSync } from '@photostructure/sqlite'

export type SqlValue = null | number | bigint | string | Uint8Array
export type SqlRow = Readonly<Record<string, unknown>>

export interface Database {
  exec(sql: string): void
  run(sql: string, ...values: readonly SqlValue[]): { readonly changes: number }
  get(sql: string, ...values: readonly SqlValue[]): SqlRow | undefined
  all(sql: string, ...values: readonly SqlValue[]): readonly SqlRow[]
  /** All or nothing, and one writer at a time. Never nested. */
  transaction<T>(work: () => T): T
  close(): void
}

export function openDatabase(path: string, options: { readonly timeoutMs: number }): Database {
  const driver = new DatabaseSync(path, { timeout: options.timeoutMs })
  const statements = new Map<string, ReturnType<typeof driver.prepare>>()
  const prepared = (sql: string) => {
    let statement = statements.get(sql)
    if (statement === undefined) {
      statement = driver.prepare(sql)
      statements.set(sql, statement)
    }
    return statement
  }
  return {
    exec: (sql) => driver.exec(sql),
    run: (sql, ...values) => ({ changes: Number(prepared(sql).run(...values).changes) }),
    get: (sql, ...values) => prepared(sql).get(...values) as SqlRow | undefined,
    all: (sql, ...values) => prepared(sql).all(...values) as SqlRow[],
    transaction(work) {
      driver.exec('BEGIN IMMEDIATE')
      try {
        const result = work()
        driver.exec('COMMIT')
        return result
      } catch (error) {
        if (driver.isTransaction) driver.exec('ROLLBACK')
        throw error
      }
    },
    close: () => driver.close(),
  }
}

/** SQLITE_BUSY: another connection holds the lock. */
export function isBusy(error: unknown): boolean {
  return error instanceof Error && 'errcode' in error && error.errcode === 5
}

/** The file is not a database, or not a sound one any more. */
export function isCorrupt(error: unknown): boolean {
  return (
    error instanceof Error && 'errcode' in error && (error.errcode === 11 || error.errcode === 26)
  )
}
