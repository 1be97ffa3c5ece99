// Secrets are skipped by name and by content, listed, never changed, and captured if the user allows it.
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import {
  capturedFiles,
  inChild,
  openProject,
  saved,
  waitForStableStamps,
  skippedFor,
  storedBytes,
} from '../capture-helpers.js'
import { GIT_ENVIRONMENT, type Scratch, scratch } from '../../../support/scratch.js'

const KEY =
  '-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXk\n-----END OPENSSH PRIVATE KEY-----\n'
const CERTIFICATE = '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n'

/** Whether the store contains the object of a content, reachable or not. */
function isStored(s: Scratch, content: string): boolean {
  const id = s.git(['hash-object', '--stdin'], { input: content })
  const args = ['--git-dir', join(s.home, 'objects.git'), 'cat-file', '-e', id]
  return spawnSync('git', args, { env: GIT_ENVIRONMENT }).status === 0
}

const BY_NAME =
  `.env .ENV .env.local .env.production .env-old .envrc id_rsa id_ed25519 id_work_laptop
  credentials credentials.json credentials.yml Credentials.csv credentials-prod.ini .credentials.json
  aws_credentials.csv application_default_credentials.json .aws/credentials .npmrc .netrc _netrc .pypirc
  .git-credentials .htpasswd .pgpass x.p12 x.pfx x.jks x.keystore x.kdbx
  x.ppk master.key terraform.tfstate terraform.tfstate.backup x.tfstate prod.tfvars prod.tfvars.json kubeconfig
  x.kubeconfig .kube/config .docker/config.json .dockerconfigjson .dev.vars .dev.vars.production prod.env local.env
  config/credentials/production.key .vault_pass .vault_pass.txt .gnupg/private-keys-v1.d/A0.key .gnupg/secring.gpg
  .gnupg/openpgp-revocs.d/A0.rev client_secret.json client_secret_1.apps.googleusercontent.com.json .codex/auth.json
  .gemini/oauth_creds.json .config/gh/hosts.yml secrets.yml secrets.yaml secrets.json .streamlit/secrets.toml x.ovpn
  wg0.conf wg-home.conf .bash_history .python_history .psql_history android/key.properties`.split(
    /\s+/,
  )
const HARMLESS =
  `.env.example .env.sample .env.template .env.local.example .env.dist .env.schema id_rsa.pub
  id_mapping.ts id_rsa.test.ts id_.txt credentials.ts credentials.test.js credentials.md credentials.example.json
  credentials.tsx credentials_form.html my-credentials.vue config.json kube/config npmrc env.ts x.key
  keystore.ts test.crt example.env sample.env template.env default.env app.example.env app-sample.env
  .dev.vars.example example.tfvars prod.example.tfvars terraform.tfvars.example main.tf docker/config.json codex/auth.json
  hosts.yml auth.json client_secret.example.json client_secret.ts secrets.ts secrets.example.yml my-secrets.yml
  other/credentials/a.key history bash_history x_history.ts environment.ts env wg.ts gradle.properties`.split(
    /\s+/,
  )

test('secret names are skipped and listed at any depth; similar names are captured', async () => {
  await using s = await scratch()
  for (const folder of ['', 'deep/er/']) {
    for (const [i, name] of [...BY_NAME, ...HARMLESS].entries())
      s.write({ [`${folder}${name}`]: `only here ${folder}${i}` })
  }
  const { project } = await openProject(s)
  const details = await saved(project)
  const both = (names: readonly string[]) =>
    names.flatMap((name) => [name, `deep/er/${name}`]).sort()
  expect(capturedFiles(s, details.ref)).toEqual(both(HARMLESS))
  expect(skippedFor(details, 'secret')).toEqual(both(BY_NAME))
  expect(details.skippedByReason).toEqual({ secret: 2 * BY_NAME.length })
  expect(BY_NAME.filter((_, i) => isStored(s, `only here ${i}`))).toEqual([])
})

test('folders with secret names are no secrets; those in the default excludes stay excluded', async () => {
  await using s = await scratch({
    files: { 'credentials/a.txt': 'x', 'id_things/a': 'x', '.env/lib/b': 'x', '.env.d/c': 'x' },
  })
  const { project } = await openProject(s)
  const details = await saved(project)
  expect(capturedFiles(s, details.ref)).toEqual(['credentials/a.txt', 'id_things/a'])
  expect(skippedFor(details, 'ignored')).toEqual(['.env', '.env.d'])
})

describe('content', () => {
  // Few files are read on the capture thread, many on hash threads, large ones as a stream.
  const others = Object.fromEntries(
    Array.from({ length: 700 }, (_, i) => [`many/${i % 7}/${i}.txt`, `${i}\n`]),
  )
  const large = KEY + 'QUFB\n'.repeat(1 << 20)
  const ways: Readonly<Record<string, { key: string; others: Readonly<Record<string, string>> }>> =
    {
      'one of a few': { key: KEY, others: {} },
      'one of many': { key: KEY, others },
      large: { key: large, others: {} },
    }

  test.each(Object.keys(ways))('a private key is skipped and never stored: %s', async (way) => {
    const { key, others: more } = ways[way] ?? { key: '', others: {} }
    await using s = await scratch({ files: { ...more, 'src/a.ts': 'x', 'src/mine.bin': key } })
    const { project } = await openProject(s)
    const details = await saved(project)
    expect(skippedFor(details, 'secret')).toEqual(['src/mine.bin'])
    expect(capturedFiles(s, details.ref)).toEqual([...Object.keys(more), 'src/a.ts'].sort())
    expect(isStored(s, key)).toBe(false)
    // Changed in place to something harmless and back, without a change of the folder.
    await waitForStableStamps()
    s.write({ 'src/mine.bin': 'x'.repeat(key.length) })
    expect(capturedFiles(s, (await saved(project)).ref)).toContain('src/mine.bin')
    await waitForStableStamps()
    s.write({ 'src/mine.bin': key })
    const again = await saved(project)
    expect(skippedFor(again, 'secret')).toEqual(['src/mine.bin'])
    expect(capturedFiles(s, again.ref)).not.toContain('src/mine.bin')
    expect(isStored(s, key)).toBe(false)
  })

  test('a change of the same size and time right after a save is detected', async () => {
    await using s = await scratch({ files: { key: KEY, 'a.txt': 'a' } })
    const { project } = await openProject(s)
    for (let i = 0; i < 10; i++) {
      s.write({ key: i % 2 === 0 ? KEY : 'x'.repeat(KEY.length) })
      utimesSync(join(s.project, 'key'), 1, 1)
      const files = i % 2 === 0 ? ['a.txt'] : ['a.txt', 'key']
      expect(capturedFiles(s, (await saved(project)).ref)).toEqual(files)
    }
  })

  test('a .pem is captured only if it contains a certificate or another public block', async () => {
    await using s = await scratch({
      files: {
        'ca.pem': CERTIFICATE,
        'both.pem': CERTIFICATE + KEY,
        'what.pem': 'x',
        'a.key': 'x',
      },
    })
    const { project } = await openProject(s)
    const details = await saved(project)
    expect(capturedFiles(s, details.ref)).toEqual(['a.key', 'ca.pem'])
    expect(skippedFor(details, 'secret')).toEqual(['both.pem', 'what.pem'])
  })

  test('an unchanged secret is not read again, in the same process or the next', async () => {
    await using s = await scratch()
    const bytes = 20 << 20
    for (let i = 0; i < 10; i++) s.write({ [`keys/${i}`]: KEY + 'A'.repeat(bytes / 10) })
    for (let i = 0; i < 150; i++) s.write({ [`more/${i}`]: `${i}` })
    await waitForStableStamps()
    const script = `
      const read = () => Number(/rchar: (\\d+)/.exec(fs.readFileSync('/proc/self/io', 'utf8'))[1])
      const counted = async (name) => {
        if (name !== undefined) fs.writeFileSync(path.join(scratch.project, name), name)
        const before = read()
        const { skippedByReason } = await project.save()
        return { secret: skippedByReason.secret, bytes: read() - before }
      }
      const first = await counted()
      // A new sibling makes the scan list the folder again, but not read the secrets again.
      return [first, await counted(), await counted('keys/new-' + process.pid)]
    `
    type Counted = { secret: number; bytes: number }
    const [first, again, beside] = (await inChild(s, script)) as Counted[]
    const [next] = (await inChild(s, script)) as Counted[]
    expect([first, again, beside, next].map((counted) => counted?.secret)).toEqual([10, 10, 10, 10])
    expect(first?.bytes).toBeGreaterThan(bytes)
    expect(again?.bytes).toBeLessThan(bytes / 20)
    expect(beside?.bytes).toBeLessThan(bytes / 20)
    expect(next?.bytes).toBeLessThan(bytes / 4)
  })
})

describe('a tracked file', () => {
  test('is captured with any name, but not if its content is a private key', async () => {
    await using s = await scratch({
      files: { '.env': 'A=1', 'what.pem': 'x', 'fixture.key': KEY, id_rsa: 'fake', 'a.txt': 'a' },
    })
    s.git(['init', '-q'])
    s.git(['add', '-f', '-A'])
    s.write({ '.npmrc': 'x' })
    const { project } = await openProject(s)
    const details = await saved(project)
    expect(capturedFiles(s, details.ref)).toEqual(['.env', 'a.txt', 'id_rsa', 'what.pem'])
    expect(skippedFor(details, 'secret')).toEqual(['.npmrc', 'fixture.key'])
    // Only the index has to change.
    await waitForStableStamps()
    s.git(['rm', '-q', '--cached', '.env', 'what.pem'])
    const without = await saved(project)
    expect(capturedFiles(s, without.ref)).toEqual(['a.txt', 'id_rsa'])
    await waitForStableStamps()
    s.git(['add', '-f', '.env', 'what.pem', '.npmrc'])
    expect(capturedFiles(s, (await saved(project)).ref)).toEqual(
      ['.env', '.npmrc', 'a.txt', 'id_rsa', 'what.pem'].sort(),
    )
    // Untracked and skipped then, captured now: it does not count as created later (I5).
    const { plan } = await project.rewind(without.id)
    expect(plan.remove).toEqual([])
    expect(readFileSync(join(s.project, '.env'), 'utf8')).toBe('A=1')
  })
})

describe('allowed', () => {
  const files = {
    '.env': 'A=1',
    '.env.test': 'A=2',
    '.gitignore': '.env*\n*.log\n',
    'certs/dev/a.key': KEY,
    'other.key': KEY,
    'debug.log': 'x',
  }
  const secrets = async (s: Scratch, allowSecrets: readonly string[]) => {
    const { store, project } = await openProject(s, { limits: { allowSecrets } })
    const details = await saved(project)
    await store.close()
    const captured = capturedFiles(s, details.ref).filter((path) => path !== '.gitignore')
    return { captured, secret: skippedFor(details, 'secret'), ref: details.ref }
  }

  test('by patterns, which apply to the next save, as does their removal', async () => {
    await using s = await scratch({ files })
    // Enough files for a stat cache, which is all that the next process knows.
    for (let i = 0; i < 150; i++) s.write({ [`more/${i}`]: `${i}` })
    const of = async (allowSecrets: readonly string[]) => {
      const { captured, secret } = await secrets(s, allowSecrets)
      return { captured: captured.filter((path) => !path.startsWith('more/')), secret }
    }
    const none = {
      captured: [],
      secret: Object.keys(files).filter((name) => !/log|gitig/.test(name)),
    }
    await waitForStableStamps()
    expect(await of([])).toEqual(none)
    expect(await of(['.env.test', 'certs/'])).toEqual({
      captured: ['.env.test', 'certs/dev/a.key'],
      secret: ['.env', 'other.key'],
    })
    expect(await of(['*.key', '!other.key'])).toEqual({
      captured: ['certs/dev/a.key'],
      secret: ['.env', '.env.test', 'other.key'],
    })
    expect(await of(['*'])).toEqual({ captured: none.secret, secret: [] })
    expect(await of([])).toEqual(none)
  })

  test('byte for byte, and restored by a rewind', async () => {
    await using s = await scratch({ files })
    const { project } = await openProject(s, { limits: { allowSecrets: ['.env', '/other.key'] } })
    const { id, ref } = await saved(project)
    expect(storedBytes(s, ref, 'other.key').toString()).toBe(KEY)
    s.write({ '.env': 'broken', 'other.key': null })
    await project.rewind(id)
    expect(readFileSync(join(s.project, '.env'), 'utf8')).toBe('A=1')
    expect(readFileSync(join(s.project, 'other.key'), 'utf8')).toBe(KEY)
  })

  test('by a line of a trusted .savestateignore, until the line is removed', async () => {
    await using s = await scratch({ files })
    const { project } = await openProject(s)
    await waitForStableStamps()
    s.write({ '.savestateignore': '!.env\n!other.key\n' })
    await project.internals.trustFiles((await project.config()).untrusted)
    expect(skippedFor(await saved(project), 'secret')).toEqual(['.env.test', 'certs/dev/a.key'])
    s.write({ '.savestateignore': '' })
    expect(skippedFor(await saved(project), 'secret')).toEqual([
      '.env',
      '.env.test',
      'certs/dev/a.key',
      'other.key',
    ])
  })
})

describe('I5', () => {
  test('secrets and their folder survive a rewind, an undo and a redo', async () => {
    await using s = await scratch({ files: { 'a.txt': 'one' } })
    const { project } = await openProject(s)
    const { id } = await project.save()
    s.write({ 'a.txt': 'two', 'new/b.txt': 'b', 'new/.env': 'A=1', 'new/k': KEY })
    const later = s.snapshotOf()
    const { plan } = await project.rewind(id)
    expect(plan.keep.map(({ path }) => path)).toEqual(['new'])
    expect(existsSync(join(s.project, 'new/b.txt'))).toBe(false)
    expect(readFileSync(join(s.project, 'new/.env'), 'utf8')).toBe('A=1')
    expect(readFileSync(join(s.project, 'new/k'), 'utf8')).toBe(KEY)
    await project.undo()
    expect(s.snapshotOf()).toEqual(later)
    await project.redo()
    expect(readFileSync(join(s.project, 'new/k'), 'utf8')).toBe(KEY)
  })

  test('a captured file that became a secret is saved before it is overwritten, and stays if it equals the checkpoint', async () => {
    await using s = await scratch({ files: { 'a.txt': 'one', mine: 'harmless', '.env': 'A=1' } })
    const allowing = await openProject(s, { limits: { allowSecrets: ['.env'] } })
    const { id } = await allowing.project.save()
    await allowing.store.close()
    const { project } = await openProject(s)
    s.write({ 'a.txt': 'two' })
    await project.rewind(id)
    s.write({ mine: KEY, '.env': 'A=2' })
    const before = s.snapshotOf()
    const { plan } = await project.rewind(id)
    expect(plan.write.map(({ path }) => path)).toEqual(['.env', 'mine'])
    expect(readFileSync(join(s.project, 'mine'), 'utf8')).toBe('harmless')
    await project.undo()
    expect(s.snapshotOf()).toEqual(before)
    // If it was removed, the rewind restores it.
    s.write({ mine: null, '.env': null })
    await project.rewind(id)
    expect(readFileSync(join(s.project, '.env'), 'utf8')).toBe('A=1')
  })

  test('a former secret does not count as created later', async () => {
    await using s = await scratch({ files: { 'a.txt': 'one', mine: KEY } })
    const { project } = await openProject(s)
    const { id } = await project.save()
    s.write({ mine: 'harmless', 'a.txt': 'two' })
    const { plan } = await project.rewind(id)
    expect(plan.keep).toEqual([
      { path: 'mine', reason: 'existed then but was not captured (secret)' },
    ])
    expect(readFileSync(join(s.project, 'mine'), 'utf8')).toBe('harmless')
  })
})
