// Creating and opening a remote.
import { randomBytes } from 'node:crypto'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Remote } from '../../../src/remote/index.js'
import type { RemoteKindUnderTest, RemotePlace } from './remote-contract.js'
import { session } from './writer.js'

export function describeSetup(kind: RemoteKindUnderTest): void {
  let place: RemotePlace
  const opened: Remote[] = []
  const open = async (key?: Uint8Array) => {
    const remote = await place.open(key)
    opened.push(remote)
    return remote
  }
  beforeEach(async () => {
    place = await kind.createPlace()
  })
  afterEach(async () => {
    for (const remote of opened.splice(0)) await remote.close()
    await place.dispose()
  })

  test('a remote that was not created refuses every call and names the command', async () => {
    const remote = await open()
    await expect(remote.head(session('a'))).rejects.toMatchObject({
      code: 'REMOTE_REFUSED',
      hint: expect.stringContaining('savestate remote init') as unknown,
    })
    await expect(remote.id()).rejects.toMatchObject({ code: 'REMOTE_REFUSED' })
    // The failure is not kept.
    await (await open()).init()
    expect(await remote.heads()).toEqual([])
  })

  test('clients that create it at once agree on one id', async () => {
    const remotes = await Promise.all(Array.from({ length: 4 }, () => open()))
    await Promise.all(remotes.map((remote) => remote.init()))
    const ids = await Promise.all(remotes.map((remote) => remote.id()))
    expect(ids).toEqual(ids.map(() => ids[0]))
    expect(ids[0]).toMatch(/^[0-9a-f]{8}-[0-9a-f-]{27}$/)
    await (await open()).init()
    expect(await (await open()).id()).toBe(ids[0])
  })

  test('only the key that it was created with opens it', async () => {
    const key = randomBytes(32)
    await (await open(key)).init()
    expect((await open(key)).isSealed).toBe(true)
    expect(await (await open(key)).heads()).toEqual([])
    await expect((await open()).heads()).rejects.toMatchObject({ code: 'KEY_MISSING' })
    await expect((await open()).init()).rejects.toMatchObject({ code: 'KEY_MISSING' })
    await expect((await open(randomBytes(32))).heads()).rejects.toMatchObject({ code: 'KEY_WRONG' })
    await expect((await open(randomBytes(32))).init()).rejects.toMatchObject({ code: 'KEY_WRONG' })
  })

  test('a key on a plain remote is refused: its data would not be sealed', async () => {
    const plain = await open()
    await plain.init()
    expect(plain.isSealed).toBe(false)
    const remote = await open(randomBytes(32))
    await expect(remote.heads()).rejects.toMatchObject({
      code: 'KEY_WRONG',
      message: expect.stringContaining('is not encrypted') as unknown,
    })
  })

  test('a key has 32 bytes', async () => {
    await expect(place.open(randomBytes(31))).rejects.toMatchObject({ code: 'KEY_UNUSABLE' })
  })
}
