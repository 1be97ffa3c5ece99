// The contract of `Remote` on a real PostgreSQL.
import { openRemote, schemaSql } from '../../../src/remote/index.js'
import { createDatabase } from '../../support/postgres/index.js'
import { describeRemote } from '../../support/remote/remote-contract.js'

describeRemote({
  name: 'PostgreSQL',
  isFleet: true,
  async createPlace() {
    const database = await createDatabase()
    return {
      open: (key) => openRemote({ url: database.url, ...(key === undefined ? {} : { key }) }),
      dispose: () => database.dispose(),
    }
  },
})

/** As docs/guide/operations.md advises: changes the printed SQL, before `remote init`. */
function partition(sql: string, table: string): string {
  const parts = [0, 1, 2, 3].map(
    (i) =>
      `CREATE TABLE savestate.${table}_${i} PARTITION OF savestate.${table} FOR VALUES WITH (MODULUS 4, REMAINDER ${i})`,
  )
  const pattern = new RegExp(`(CREATE TABLE IF NOT EXISTS "savestate"\\.${table} \\([^;]*\\n\\));`)
  return sql.replace(pattern, `$1 PARTITION BY HASH (log);\n${parts.join(';\n')};`)
}

describeRemote({
  name: 'segments and checkpoints in partitions',
  isFleet: true,
  variants: ['plain'],
  async createPlace() {
    const database = await createDatabase()
    await database.sql(['segments', 'checkpoints'].reduce(partition, schemaSql()))
    const parts = await database.sql(
      `SELECT c.relname AS of, count(*)::int AS parts FROM pg_inherits AS i
        JOIN pg_class AS c ON c.oid = i.inhparent WHERE c.relkind = 'p' GROUP BY 1 ORDER BY 1`,
    )
    if (parts.length !== 2 || parts.some((row) => row['parts'] !== 4))
      throw new Error(`not partitioned: ${JSON.stringify(parts)}`)
    return {
      open: (key) => openRemote({ url: database.url, key }),
      dispose: () => database.dispose(),
    }
  },
})
