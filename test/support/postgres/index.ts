export { createDatabase, type TestDatabase } from './database.js'
export {
  type PostgresServer,
  type ServerOptions,
  startServer,
  SUPERUSER_PASSWORD,
} from './server.js'
export { sharedServerUrl } from './shared-server.js'
