// Tells the story of Savestate in about twenty seconds, with the real program in a scratch folder: an agent's work
// is saved, a careless command destroys it, and it comes back; a killed agent continues. Every step is checked;
// `--fast` omits the pauses.
import { spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import {
  appendFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { NO_AGENT } from './no-agent.mjs'

const PROGRAM = fileURLToPath(new URL('../dist/cli/bin.js', import.meta.url))
const SDK = new URL('../dist/index.js', import.meta.url).href
const isFast =
  process.argv.includes('--fast') || Boolean(process.env.CI) || process.stdout.isTTY !== true
const paint = process.stdout.isTTY === true && process.env.NO_COLOR === undefined

const scratch = realpathSync(mkdtempSync(join(tmpdir(), 'savestate-quickstart-')))
const project = join(scratch, 'shop')
// Always clean up.
process.on('exit', () => rmSync(scratch, { recursive: true, force: true }))
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(130))

await main()

async function main() {
  if (!existsSync(PROGRAM))
    fail('dist/cli/bin.js is missing. Run `npm run quickstart`, which builds it.')

  await say('A small project. An agent is about to work on it.')
  makeProject()
  await savestate('save', '-m', 'before the agent')

  await say('The agent works: it edits the cart and adds discounts. That is worth keeping.')
  letTheAgentWork()
  await savestate('save', '-m', 'agent: add discounts')
  const good = fingerprint()

  await say('Then something careless happens.')
  await type('rm -rf src')
  rmSync(join(project, 'src'), { recursive: true })
  await type(`echo '{ "name": "shop", }' > package.json`)
  writeFileSync(join(project, 'package.json'), '{ "name": "shop", }\n')
  const broken = fingerprint()
  check(broken !== good, 'the accident did not change anything')

  await say('What is different from the newest checkpoint?')
  const stat = await savestate('diff', '1', '--stat')
  check(stat.includes('src/discount.js'), '`diff` does not show the lost file')

  await say('Bring it all back.')
  await savestate('rewind', '1', '--yes')
  await compare('the folder before the accident', good)

  await say('Even that can be undone: the rewind saved what it replaced.')
  await savestate('undo', '--yes')
  await compare('the folder after the accident', broken)

  await say('And redone.')
  await savestate('redo', '--yes')
  await compare('the folder before the accident', good)

  await say('History only grows. Nothing was lost on the way.')
  await savestate('list')

  await say(
    'The state of the agent is saved too. This one (examples/survivor.mjs) is killed at work.',
  )
  await type('node survivor.mjs & sleep 1; kill -9 $!')
  const first = await runSurvivor({ killAt: 'Step 3' })
  await show(first)
  await savestate('sessions', '--interrupted')
  await type('node survivor.mjs')
  const second = await runSurvivor({})
  await show(second)
  check(second.includes('Continuing at step 4.'), 'the agent did not continue where it stopped')
  check(second.includes('Step 9 is saved'), 'the agent did not come to its end')
  const { problems } = JSON.parse(run('verify', '--json'))
  check(problems.length === 0, `the store has problems: ${JSON.stringify(problems)}`)

  await say(
    'That was all of it, in a scratch folder that is now removed. Next:\n' +
      '  npm pack && npm install -g ./savestate-*.tgz   puts `savestate` on your PATH\n' +
      '  savestate install claude                       checkpoints at every prompt and tool call\n' +
      '  savestate save                                 or by hand, in a project of yours\n' +
      '  savestate help                                 all commands; README.md for the rest',
  )
}

function makeProject() {
  write('package.json', '{ "name": "shop", "version": "1.0.0", "type": "module" }\n')
  write('README.md', '# Shop\n\nAdds up what is in the cart.\n')
  write(
    'src/cart.js',
    'export const total = (items) => items.reduce((sum, item) => sum + item.price, 0)\n',
  )
  write('src/price.js', 'export const euros = (cents) => `${(cents / 100).toFixed(2)} EUR`\n')
  write('run.sh', '#!/bin/sh\nexec node --test\n', 0o755)
  mkdirSync(join(project, 'uploads'))
}

function letTheAgentWork() {
  write(
    'src/discount.js',
    'export const discounted = (cents, percent) => Math.round(cents * (1 - percent / 100))\n',
  )
  write(
    'src/cart.js',
    "import { discounted } from './discount.js'\n\n" +
      'export const total = (items, percent = 0) =>\n' +
      '  discounted(items.reduce((sum, item) => sum + item.price, 0), percent)\n',
  )
  appendFileSync(join(project, 'README.md'), '\nDiscounts are in percent.\n')
}

function write(path, content, mode = 0o644) {
  const place = join(project, path)
  mkdirSync(join(place, '..'), { recursive: true })
  writeFileSync(place, content, { mode })
}

/** One hash over every path of the project: its type, its mode, its content. */
function fingerprint() {
  const hash = createHash('sha256')
  const look = (path) => {
    const stats = lstatSync(path)
    const content = stats.isFile() ? readFileSync(path).toString('hex') : ''
    hash.update(`${path}\0${stats.mode.toString(8)}\0${content}\n`)
    if (!stats.isDirectory()) return
    for (const name of readdirSync(path).sort()) look(join(path, name))
  }
  look(project)
  return hash.digest('hex')
}

async function compare(what, wanted) {
  const found = fingerprint()
  check(found === wanted, `the folder is not, bit for bit, ${what}`)
  await show(`checksum ${found.slice(0, 16)}… = checksum of ${what}\n`, 'green')
}

/** Runs the real program as a user would, prints the command and its output, and returns the output. */
async function savestate(...args) {
  await type(['savestate', ...args].map(quoted).join(' '))
  const output = run(...args)
  await show(output)
  return output
}

function run(...args) {
  const { status, stdout, stderr, error } = spawnSync(process.execPath, [PROGRAM, ...args], {
    cwd: project,
    env: { ...process.env, ...NO_AGENT, SAVESTATE_HOME: join(scratch, 'home'), NO_COLOR: '1' },
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  if (error !== undefined) fail(`savestate could not be started: ${error.message}`)
  if (status !== 0) fail(`savestate ${args.join(' ')} ended with ${status}.\n${stdout}${stderr}`)
  return stdout
}

/** Runs the agent of the README with the built package. Kills it once it has printed `killAt`. */
async function runSurvivor({ killAt }) {
  const source = readFileSync(new URL('../examples/survivor.mjs', import.meta.url), 'utf8')
  const file = join(scratch, 'survivor.mjs')
  writeFileSync(file, source.replace("from 'savestate'", `from ${JSON.stringify(SDK)}`))
  const child = spawn(process.execPath, [file], {
    cwd: project,
    env: { ...process.env, SAVESTATE_HOME: join(scratch, 'home'), SAVESTATE_REMOTE: undefined },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let output = ''
  child.stdout.on('data', (text) => {
    output += text
    if (killAt !== undefined && output.includes(killAt)) child.kill('SIGKILL')
  })
  await once(child, 'close')
  return output
}

function quoted(word) {
  return /[^\w./:=-]/.test(word) ? `"${word}"` : word
}

async function say(text) {
  process.stdout.write(`\n${colour('bold', text)}\n`)
  await pause(900)
}

async function type(command) {
  process.stdout.write(`${colour('cyan', `$ ${command}`)}\n`)
  await pause(500)
}

async function show(output, name) {
  process.stdout.write(name === undefined ? output : colour(name, output))
  await pause(550)
}

function pause(ms) {
  return isFast ? undefined : sleep(ms)
}

function colour(name, text) {
  const codes = { bold: 1, cyan: 36, green: 32, red: 31 }
  return paint ? `\u001b[${codes[name]}m${text}\u001b[0m` : text
}

function check(claim, complaint) {
  if (!claim) fail(complaint)
}

function fail(complaint) {
  process.stderr.write(`${colour('red', `The quick start failed: ${complaint}`)}\n`)
  process.exit(1)
}
