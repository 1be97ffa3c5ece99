// The contract of `Remote` on a real PostgreSQL.
import { openRemote } from '../../../src/remote/index.js'
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
