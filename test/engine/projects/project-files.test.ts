// docs/reference/settings.md#the-files-of-a-project: a clone or an agent can write the files of a project, so these can only make
// Savestate keep more. Anything else counts only after the user has trusted exactly that content.
import { randomBytes } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import {
  capturedFiles,
  openProject,
  saved,
  skippedFor,
} from '../../snapshot/capture/capture-helpers.js'
import { DAY_MS, HandClock, idsOf, saveMany, setProject, setStore } from '../prune/prune-helpers.js'
import { scratch } from '../../support/scratch.js'

test.each([
  { policy: 'tiers', asked: { keepAllHours: 0, keepPromptsDays: 0, keepDailyDays: 0 } },
  { policy: 'tiers', asked: { retention: 'hermes', maxCheckpoints: 1, retentionDays: 0 } },
  { policy: 'hermes', asked: { maxCheckpoints: 1 } },
  { policy: 'hermes', asked: { retentionDays: 0 } },
])('a project cannot shorten its history: $policy, $asked', async ({ policy, asked }) => {
  await using s = await scratch()
  setStore(s, { retention: policy })
  const clock = new HandClock()
  const store = await s.open({ clock })
  const project = await store.project(s.project)
  const ids = await saveMany(project, s, { count: 8 })
  setProject(s.project, asked)
  clock.pass(3_600_000)
  expect(await store.prune()).toMatchObject({ deletedCheckpoints: 0, deletedSessions: 0 })
  expect(await idsOf(project)).toEqual(ids.toReversed())
  // Once the user trusts it, it takes effect.
  const { untrusted } = await project.config()
  const asks = Object.entries(asked).map(([key, value]) => `${key} ${JSON.stringify(value)}`)
  expect(untrusted).toEqual([
    { file: '.savestate.json', sha256: expect.stringMatching(/^[0-9a-f]{64}$/), asks },
  ])
  await project.internals.trustFiles(untrusted)
  expect((await project.config()).untrusted).toEqual([])
  const { deletedCheckpoints } = await store.prune({ dryRun: false })
  expect(deletedCheckpoints).toBeGreaterThan(6)
})

test('a session in progress keeps its work when its agent writes the settings of the project', async () => {
  await using s = await scratch()
  setStore(s, { retention: 'hermes' })
  const clock = new HandClock()
  const store = await s.open({ clock })
  const project = await store.project(s.project)
  const session = await store.session<unknown>('agent', { project, lease: false })
  for (let step = 0; step < 5; step += 1) {
    s.write({ work: `${step}` })
    await session.save({ files: true, state: { step } })
  }
  await session.close()
  setProject(s.project, { maxCheckpoints: 1, retentionDays: 0 })
  clock.pass(DAY_MS)
  await store.prune()
  expect((await idsOf(project)).length).toBe(5)
  expect((await store.sessions()).map(({ id }) => id)).toEqual(['agent'])
})

test('a project can lengthen its history, and raise its limits up to a bound', async () => {
  await using s = await scratch({ files: { '.savestate.json': '{"keepAllHours":999}' } })
  const store = await s.open()
  const project = await store.project(s.project)
  const valueOf = async (key: string) => {
    const { values, untrusted } = await project.config()
    return [values.find((value) => value.key === key)?.value, untrusted.length]
  }
  expect(await valueOf('keepAllHours')).toEqual([999, 0])
  setProject(s.project, { maxFileMb: 50 })
  expect(await valueOf('maxFileMb')).toEqual([50, 0])
  setProject(s.project, { maxFileMb: 5000 })
  expect(await valueOf('maxFileMb')).toEqual([100, 1])
})

test.each([
  { file: '.savestate.json', text: '{"allowSecrets":[".env"]}', asks: 'allowSecrets [".env"]' },
  { file: '.savestateignore', text: '!.env\n', asks: '!.env' },
])('secrets stay out whatever $file says, until the user trusts it', async (given) => {
  const { file, text, asks } = given
  const secret = `TOKEN=${randomBytes(8).toString('hex')}`
  await using s = await scratch({ files: { '.env': secret, 'a.txt': 'a', '.gitignore': '.env\n' } })
  s.git(['init', '-q'])
  s.write({ [file]: text })
  const { store, project } = await openProject(s)
  const first = await saved(project)
  expect(skippedFor(first, 'secret')).toEqual(['.env'])
  const { untrusted } = await project.config()
  expect(untrusted).toMatchObject([{ file, asks: [asks] }])
  expect((await store.status()).projects).toMatchObject([{ untrusted }])
  await project.internals.trustFiles(untrusted)
  expect(capturedFiles(s, (await saved(project)).ref)).toContain('.env')
  expect((await store.status()).projects).toMatchObject([{ untrusted: [] }])
  // With one more byte, this is content that the user has not seen.
  writeFileSync(join(s.project, file), `${text} `)
  expect(skippedFor(await saved(project), 'secret')).toEqual(['.env'])
  expect((await project.config()).untrusted).toMatchObject([{ file }])
  // The trusted content again is still trusted.
  writeFileSync(join(s.project, file), text)
  expect(capturedFiles(s, (await saved(project)).ref)).toContain('.env')
})

test('trust covers only the content that was shown, in that project', async () => {
  await using s = await scratch({ files: { '.savestateignore': '!.env\n', '.env': 'x' } })
  const { store, project } = await openProject(s)
  const { untrusted } = await project.config()
  // The file changes between the question and the answer.
  s.write({ '.savestateignore': '!.env\n!*.pem\n' })
  await project.internals.trustFiles(untrusted)
  expect(skippedFor(await saved(project), 'secret')).toEqual(['.env'])
  const other = join(s.folder, 'other')
  s.write({ '.savestateignore': '!.env\n', '.env': 'y' }, other)
  expect(skippedFor(await saved(await store.project(other)), 'secret')).toEqual(['.env'])
})

test('a .savestateignore below the root includes no secret, even with trusted content', async () => {
  await using s = await scratch({
    files: { '.savestateignore': '!id_rsa\n', 'sub/.savestateignore': '!.env\n', 'sub/.env': 'x' },
  })
  const { project } = await openProject(s)
  await project.internals.trustFiles((await project.config()).untrusted)
  expect(skippedFor(await saved(project), 'secret')).toEqual(['sub/.env'])
})

test('rules that include ordinary files need no trust', async () => {
  await using s = await scratch({
    files: { '.savestateignore': '!dist/\n!*.log\n', 'dist/a.js': 'a', 'x.log': 'x' },
  })
  const { project } = await openProject(s)
  expect(capturedFiles(s, (await saved(project)).ref)).toEqual([
    '.savestateignore',
    'dist/a.js',
    'x.log',
  ])
  expect((await project.config()).untrusted).toEqual([])
})

test('a setting that the user changes is trusted at once, but not the older settings in the file', async () => {
  await using s = await scratch()
  const store = await s.open()
  const project = await store.project(s.project)
  await project.setConfig('keepAllHours', 1)
  const valueOf = async (key: string) =>
    (await project.config()).values.find((value) => value.key === key)
  expect(await valueOf('keepAllHours')).toMatchObject({ value: 1, source: 'project' })
  const file = join(s.project, '.savestate.json')
  const own = readFileSync(file, 'utf8')
  // Written by an agent or a git pull.
  writeFileSync(file, own.replace('1', '1, "allowSecrets": [".env"]'))
  await project.setConfig('maxFileMb', 1)
  expect(await valueOf('maxFileMb')).toMatchObject({ value: 10, source: 'default' })
  const [{ asks } = { asks: [] }] = (await project.config()).untrusted
  expect(asks).toEqual(['keepAllHours 1', 'maxFileMb 1', 'allowSecrets [".env"]'])
})
