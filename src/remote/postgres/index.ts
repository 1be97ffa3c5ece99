export { openPostgres, type PostgresOptions } from './postgres-driver.js'
export { parsePostgresUrl } from './postgres-url.js'
export type { PostgresClient } from './queries.js'
export { schemaSql, type SchemaOptions } from './schema-sql.js'
