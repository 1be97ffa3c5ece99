// SQLite for tests that open the same files as the program does in the same process. It is the one that the program
// uses: a second library would drop the locks of the first (docs/decisions/0002).
import { sharedDriver } from '../../src/system/sqlite/sqlite-driver.js'

export const { DatabaseSync } = sharedDriver()
