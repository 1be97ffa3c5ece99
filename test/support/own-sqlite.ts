// SQLite for tests that open the program's files in the same process. It must be the program's own library: a second one would drop
// the locks of the first (docs/decisions/0002).
import { sharedDriver } from '../../src/system/sqlite/sqlite-driver.js'

export const { DatabaseSync } = sharedDriver()
