// The limit of a compaction. Its races are in postgres/races.test.ts, its result in the contract of `Remote`.
import { expect, test } from 'vitest'
import { Codec } from '../../src/remote/codec/index.js'
import { compactLog } from '../../src/remote/compact-log.js'
import { openGit } from '../../src/remote/git/index.js'
import { serveFiles } from '../support/git-server/git-servers.js'
import { content, session, startWriter, textsOf } from '../support/remote/writer.js'
import { gitHosts } from './git/git-hosts.js'

const hosts = gitHosts()

test('a compaction unpacks no more of a log than its budget', async () => {
  const { server, remote } = await hosts.start(serveFiles)
  const writer = await startWriter(remote, session('a'), { leaseMs: null })
  const texts = ['one', 'two', 'six'].map((text) => text.repeat(300))
  for (const text of texts) await writer.commit(text, { leaseMs: null })
  const driver = openGit({ url: server.url, folder: hosts.addFolder() })
  const codec = new Codec({ remoteId: await remote.id(), key: null, label: driver.label })
  const size = texts.reduce((sum, text) => sum + JSON.stringify(content(text)).length, 0)
  const compact = (maxTextBytes: number) =>
    compactLog(driver, codec, {
      log: writer.log,
      rewrite: () => content('base', true),
      maxTextBytes,
    })
  await expect(compact(size - 1)).rejects.toMatchObject({
    code: 'STORE_DAMAGED',
    message: expect.stringContaining('the log up to segment session a 3') as unknown,
  })
  expect(await compact(size)).toBe(true)
  expect(await textsOf(remote, writer.log)).toEqual(['base'])
  await driver.close()
})
