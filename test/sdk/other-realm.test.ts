// As a test runner does it that gives each file globals of its own: the SDK is loaded into a realm in which the errors of
// Node itself are no Errors, and what it hands out belongs there.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { compileFunction, constants, createContext, runInContext } from 'node:vm'
import { expect, test } from 'vitest'
import { scratch } from '../support/scratch.js'

const ENTRY = fileURLToPath(new URL('../../dist/index.cjs', import.meta.url))
function realmWithSdk(): { run(script: string): unknown } {
  const context = createContext({ Uint8Array, ArrayBuffer })
  // The realm gets the globals of Node that are not part of the language.
  const language = new Set<string>(runInContext('Object.getOwnPropertyNames(globalThis)', context))
  for (const [name, value] of Object.entries(Object.getOwnPropertyDescriptors(globalThis)))
    if (!language.has(name)) Object.defineProperty(context, name, value)
  const loaded = new Map<string, { exports: unknown }>()
  const load = (file: string): unknown => {
    const known = loaded.get(file)
    if (known !== undefined) return known.exports
    const module = { exports: {} }
    loaded.set(file, module)
    const outside = createRequire(file)
    const require = (name: string): unknown =>
      name.startsWith('.') ? load(join(dirname(file), name)) : outside(name)
    const names = ['exports', 'require', 'module', '__filename', '__dirname']
    const run = compileFunction(readFileSync(file, 'utf8'), names, {
      filename: file,
      parsingContext: context,
      importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
    }) as (...args: unknown[]) => void
    run(module.exports, require, module, file, dirname(file))
    return module.exports
  }
  Object.assign(context, { sdk: load(ENTRY) })
  return { run: (script) => runInContext(script, context) }
}

test('files and states are kept there as anywhere', async () => {
  await using s = await scratch({ files: { 'a.txt': 'one' } })
  const realm = realmWithSdk()
  const script = `async (home, folder, write) => {
    const store = await sdk.openStore({ home })
    const project = await store.project(folder)
    await project.save()
    write('two')
    await project.rewind('1')
    const session = await store.session('agent', { project })
    const shared = { twice: true }
    const state = {
      messages: [{ role: 'user', content: 'hello' }],
      at: new Date(5), seen: new Map([['a', new Set([1, 2n])]]), fault: new TypeError('no'), pair: { one: shared, two: [shared] },
    }
    await session.save({ state })
    state.messages.push({ role: 'assistant', content: [] })
    await session.save({ state })
    const back = await session.stateAt()
    const refusals = await Promise.all([
      project.show('absent').catch((error) => [error instanceof sdk.SavestateError, error instanceof Error, error.code]),
      session.save({ state: () => 1 }).catch(({ code }) => code),
      store.project(folder + '/absent').catch(({ code }) => code),
      sdk.openStore({ home: folder + '/a.txt' }).catch(({ code }) => code),
    ])
    const { problems } = await store.verify()
    await store.close()
    return JSON.stringify([
      back.messages.length, back.at instanceof Date, back.seen.get('a').has(2n), back.fault instanceof TypeError,
      back.pair.one === back.pair.two[0], refusals, problems,
    ])
  }`
  const work = realm.run(`(${script})`) as (...args: unknown[]) => Promise<string>
  const answer = await work(s.home, s.project, (text: string) => s.write({ 'a.txt': text }))
  expect(JSON.parse(answer)).toEqual([
    2,
    true,
    true,
    true,
    true,
    [[true, true, 'CHECKPOINT_UNKNOWN'], 'STATE_UNSTORABLE', 'PROJECT_MISSING', 'STORE_UNUSABLE'],
    [],
  ])
  expect(readFileSync(join(s.project, 'a.txt'), 'utf8')).toBe('one')
})
