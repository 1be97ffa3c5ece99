// A git server that has everything of an encrypted remote learns nothing of what is stored there.
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import { inflateSync } from 'node:zlib'
import { afterAll, expect, test } from 'vitest'
import { openStore } from '../../../src/index.js'
import { logRef } from '../../../src/remote/git/ref-names.js'
import { ownIdentity } from '../../../src/system/index.js'
import { gitPlace, keyFile, machine, removeKeyFiles } from '../../support/sharing/two-machines.js'

afterAll(removeKeyFiles)

const place = gitPlace()
const CONTENT = 'content of the file, and more of it\n'
const BLOB = createHash('sha1').update(`blob ${CONTENT.length}\0${CONTENT}`).digest()
const SECRETS: Readonly<Record<string, string | Buffer>> = {
  state: 'words of the user',
  reason: 'message of the checkpoint',
  path: 'name-of-a-file.txt',
  content: CONTENT,
  blob: BLOB,
  agent: 'name-of-an-agent',
  tool: 'name-of-a-tool',
  argument: 'argument of the tool',
  result: 'result of the tool',
  project: ':"project"',
  origin: createHash('sha256').update('example.org/team/app\0').digest('hex'),
}

test.each([{ isSealed: true }, { isSealed: false }])(
  'the objects and refs of a git remote (with a key: $isSealed)',
  async ({ isSealed }) => {
    const url = await place.newUrl()
    const options = isSealed ? { key: keyFile() } : {}
    using a = machine(url, options)
    using b = machine(url, options)
    a.ok('remote', 'init')
    const store = await openStore({ home: a.home })
    const project = await store.project(a.project)
    const session = await store.session('fix', { project, agent: 'name-of-an-agent' })
    for (const step of ['first', 'second']) {
      a.write({ 'name-of-a-file.txt': CONTENT, 'other.txt': step })
      const state = { words: ['words of the user', step] }
      await session.save({ state, files: true, reason: 'message of the checkpoint' })
    }
    const call = { id: 'c', name: 'name-of-a-tool', args: ['argument of the tool'] }
    await session.tool(call, () => 'result of the tool')
    await store.close()
    a.ok('handoff', 'fix')
    b.ok('pull', 'fix')
    b.saveStep('fix', 'elsewhere')
    b.ok('handoff', 'fix')
    a.saveStep('fix', 'here')
    const [, id = ''] = /now the session (fix~\S+);/.exec(a.ok('push')) ?? []
    const host = isSealed ? '[b-z]{8}' : ownIdentity().host.slice(0, 30)
    expect(id).toMatch(new RegExp(`^fix~${host}-\\d{8}T\\d{9}$`))
    // The other machine knows it by the same id.
    expect(b.ok('pull', id)).toContain(`${id} is here, in `)
    const seen = everythingIn(fileURLToPath(url))
    expect(logsIn(fileURLToPath(url))).toEqual(
      ['fix', id].map((one) => logRef({ kind: 'session', id: one })),
    )
    const found = Object.keys(SECRETS).filter((name) => seen.includes(SECRETS[name] ?? ''))
    // Without a key all of it is found, so the search finds what is there.
    expect(found).toEqual(isSealed ? [] : Object.keys(SECRETS))
  },
)

function logsIn(repository: string): readonly string[] {
  const args = ['-C', repository, 'for-each-ref', '--format=%(refname)', 'refs/savestate/*/*/log']
  const options = { encoding: 'utf8', env: { PATH: process.env['PATH'] } } as const
  return execFileSync('git', args, options).trim().split('\n')
}

/** All objects, also what is compressed or in base64 within them, and the refs. */
function everythingIn(repository: string): Buffer {
  const git = (...args: readonly string[]) =>
    execFileSync('git', ['-C', repository, ...args], { env: { PATH: process.env['PATH'] } })
  const objects = git('cat-file', '--batch-all-objects', '--batch')
  return Buffer.concat([
    objects,
    ...inflatedIn(objects),
    ...decodedIn(objects),
    git('for-each-ref'),
  ])
}

function inflatedIn(bytes: Buffer): Buffer[] {
  const found: Buffer[] = []
  for (let at = bytes.indexOf(0x78); at !== -1; at = bytes.indexOf(0x78, at + 1)) {
    // Not the header of zlib.
    if (at + 1 >= bytes.length || bytes.readUInt16BE(at) % 31 !== 0) continue
    try {
      found.push(inflateSync(bytes.subarray(at)))
    } catch (error) {
      if (!(error instanceof Error) || !('code' in error) || !String(error.code).startsWith('Z_'))
        throw error
    }
  }
  return found
}

function decodedIn(bytes: Buffer): Buffer[] {
  const texts = bytes.toString('latin1').matchAll(/[\w+/-]{16,}/g)
  return [...texts].map(([text]) => Buffer.from(text, 'base64'))
}
