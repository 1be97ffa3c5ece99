// Makes the pictures of the page for the README and the guide, docs/images/page-*.png: plays the story of two agents with the real
// program, and photographs the real page. The agents are simulated: their events are sent to our hooks. Needs a build, and a
// home folder that it may create and remove, because the pictures show its name: `node scripts/pictures.mjs /home/ada`.
import { spawnSync } from 'node:child_process'
import { appendFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import process from 'node:process'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { rolldown } from 'rolldown'

const root = fileURLToPath(new URL('..', import.meta.url))
const PROGRAM = join(root, 'dist/cli/bin.js')
const IMAGES = join(root, 'docs/images')
const SIZE = { width: 1440, height: 900 }
const CLAUDE = '3f0c6f0e-6a51-4a0e-9f0f-0c9b5a1d2e31'
const CODEX = '01a1e321-f1c6-7702-8185-9a72afbfd586'
const MINUTE_MS = 60_000

const [home] = process.argv.slice(2)
if (home === undefined) throw new Error('Name a home folder that does not exist: /home/ada')
mkdirSync(home)
process.on('exit', () => rmSync(home, { recursive: true, force: true }))
const project = join(home, 'shop')
const transcripts = { [CLAUDE]: join(home, 'claude.jsonl'), [CODEX]: join(home, 'codex.jsonl') }
// Moves the clock of the program back: the story takes two hours, and seconds to play.
writeFileSync(
  join(home, 'clock.cjs'),
  `const shift = Number(process.env.SHIFT_MS)
const Real = Date
globalThis.Date = class extends Real {
  constructor(...given) {
    if (given.length === 0) super(Real.now() + shift)
    else super(...given)
  }
  static now() {
    return Real.now() + shift
  }
}
`,
)

const CART = `import { ORDERS } from './orders.js'

export function total(items) {
  let sum = 0
  for (const { price, amount } of items) {
    sum += price * amount
  }
  return sum
}

export function order(items) {
  const id = ORDERS.size + 1
  ORDERS.set(id, { items, total: total(items) })
  return id
}
`
const CART_WITH_CODES = CART.replace('import', "import { percentOf } from './discount.js'\nimport")
  .replace('total(items) {\n', 'total(items, code) {\n  const rate = 1 - percentOf(code) / 100\n')
  .replace('price * amount', 'Math.round(price * amount * rate)')
  .replace('order(items) {', 'order(items, code) {')
  .replace('total(items) }', 'total(items, code) }')
const CART_ROUNDED = CART_WITH_CODES.replace(
  'Math.round(price * amount * rate)',
  'price * amount',
).replace('return sum', 'return Math.round(sum * rate)')
const RECEIPT = `import { format } from './money.js'
import { total } from './cart.js'

export function receipt(items) {
  const lines = items.map(({ name, price }) => name + '  ' + format(price))
  return [...lines, 'Total  ' + format(total(items))].join('\\n')
}
`
const RECEIPT_WITH_CODES = RECEIPT.replace('receipt(items)', 'receipt(items, code)').replace(
  'format(total(items))',
  'format(total(items, code))',
)
const MONEY = `const CURRENCY = 'EUR'
const digits = { minimumFractionDigits: 2, style: 'currency', currency: CURRENCY }

export const format = (cents) => (cents / 100).toLocaleString('en', digits)
`
const DISCOUNT = `const CODES = new Map([
  ['WELCOME', { percent: 10, until: '2027-01-01' }],
  ['SUMMER', { percent: 25, until: '2026-09-01' }],
])

/** 0 for a code that is unknown or too old. */
export function percentOf(code, now = new Date()) {
  const found = CODES.get(code?.toUpperCase())
  return found === undefined || now > new Date(found.until) ? 0 : found.percent
}
`
const TEST = `import assert from 'node:assert'
import { test } from 'node:test'
import { total } from '../src/cart.js'

test('the sum of all items', () => {
  assert.equal(total([{ price: 250, amount: 2 }, { price: 99, amount: 1 }]), 599)
})
`
const DISCOUNT_TEST = `import assert from 'node:assert'
import { test } from 'node:test'
import { total } from '../src/cart.js'

const items = [{ price: 333, amount: 3 }]

test('a code takes its part off', () => {
  assert.equal(total(items, 'WELCOME'), 899)
})
test('small letters are the same code', () => {
  assert.equal(total(items, 'welcome'), 899)
})
test('a code that is too old changes nothing', () => {
  assert.equal(total(items, 'SUMMER'), 999)
})
test('an unknown code changes nothing', () => {
  assert.equal(total(items, 'NONE'), 999)
})
`
const README = `# Shop

The cart of a small shop.

## Discount codes

* WELCOME takes 10 % off
* SUMMER takes 25 % off

A code that is unknown or too old changes nothing.
`
const RECEIPT_FORMATTED = RECEIPT_WITH_CODES.replace(
  "name + '  ' + format(price))",
  '`${name}  ${format(price)}`)',
).replace("'Total  ' + format(total(items, code))", '`Total  ${format(total(items, code))}`')
const TEST_WITH_CODES = `${TEST}
test('a discount is rounded once', () => {
  assert.equal(total([{ price: 333, amount: 3 }], 'WELCOME'), 899)
})
`
const PACKAGE = `{
  "name": "shop",
  "type": "module",
  "scripts": { "test": "node --test" }
}
`
const PLAN = `I will keep the codes in a file of their own, \`src/discount.js\`, and apply them in \`total\`:

1. a code has a **percentage** and an end date
2. an unknown code changes nothing
3. the sum is rounded once, at the end`
const FAILED = `Exit code 1
✔ the sum of all items (0.4 ms)
✖ a discount is rounded once (0.9 ms)
  AssertionError: 898 !== 899
ℹ tests 2  pass 1  fail 1`
const PASSED = `✔ the sum of all items (0.4 ms)
✔ a discount is rounded once (0.3 ms)
ℹ tests 2  pass 2  fail 0`

let minutesAgo = 230
let calls = 0
const environment = () => ({
  PATH: process.env.PATH,
  HOME: home,
  TMPDIR: home,
  LC_ALL: 'C.UTF-8',
  SAVESTATE_NO_DAEMON: '1',
})

const tests = await bundleTests()
const { browser, closeBrowser } = await tests('browser')
const { startUi } = await tests('ui-server')
const { ClaudeTranscript } = await tests('claude-transcript')
const transcript = new ClaudeTranscript(CLAUDE, project, Date.now() - minutesAgo * MINUTE_MS)

play()
await photograph()

function play() {
  write({
    'README.md': '# Shop\n\nThe cart of a small shop.\n',
    'package.json': PACKAGE,
    '.gitignore': 'build/\n',
    'src/cart.js': CART,
    'src/money.js': MONEY,
    'src/orders.js': 'export const ORDERS = new Map()\n',
    'src/receipt.js': RECEIPT,
    'test/cart.test.js': TEST,
    'build/shop.js': '// built\n',
  })
  savestate(['save', '-m', 'The cart works'])
  minutesAgo = 196
  claude('SessionStart', { source: 'startup' })
  ask('p-1', 'Add discount codes to the cart')
  say(PLAN)
  edit('p-1', 'Write', 'src/discount.js', DISCOUNT)
  call('p-1', 'Bash', { command: 'git apply discount-codes.patch' }, () => {
    write({ 'src/cart.js': CART_WITH_CODES, 'src/receipt.js': RECEIPT_WITH_CODES })
    write({ 'test/cart.test.js': TEST_WITH_CODES })
    return 'Applied patch to 3 files.'
  })
  call('p-1', 'Bash', { command: 'npm test' }, () => report(FAILED), { isError: true })
  edit('p-1', 'Edit', 'src/cart.js', CART_ROUNDED)
  call('p-1', 'Bash', { command: 'npm test' }, () => report(PASSED))
  say('The cart takes a `code` now. Sums are rounded once, so the failing test passes again.')
  claude('Stop', { prompt_id: 'p-1' })
  savestate(['name', '1', 'codes-work'])
  minutesAgo = 131
  write({ 'src/money.js': MONEY.replace("'EUR'", "'CHF'") })
  ask('p-2', 'Test the codes that are too old')
  edit('p-2', 'Write', 'test/discount.test.js', DISCOUNT_TEST)
  call('p-2', 'Bash', { command: 'npm test' }, () => report(PASSED.replaceAll('2', '6')))
  say('Four tests cover the codes.')
  claude('Stop', { prompt_id: 'p-2' })
  minutesAgo = 74
  ask('p-3', 'Tidy up: no capitals for variables, no build leftovers')
  call('p-3', 'Bash', { command: "sed -i 's/ORDERS/orders/g' src/*.js" }, () => {
    write({ 'src/orders.js': 'export const orders = new Map()\n' })
    write({ 'src/cart.js': CART_ROUNDED.replaceAll('ORDERS', 'orders') })
  })
  call('p-3', 'Bash', { command: 'rm -rf build test' }, () => {
    for (const folder of ['build', 'test']) rmSync(join(project, folder), { recursive: true })
  })
  say('Renamed, and the leftovers of the build are gone.')
  claude('Stop', { prompt_id: 'p-3' })
  minutesAgo = 22
  codex('UserPromptSubmit', { prompt: 'Describe the discount codes in the README' })
  codexCall('cat notes.md >> README.md', () => write({ 'README.md': README }))
  codexCall('npx prettier --write .', () => {
    write({ 'README.md': README.replaceAll('* ', '- '), 'src/receipt.js': RECEIPT_FORMATTED })
  })
  codex('Stop', {})
  write({ 'src/money.js': MONEY.replace("'EUR'", "'CHF'").replace('Digits: 2', 'Digits: 0') })
}

async function photograph() {
  const { checkpoints } = JSON.parse(savestate(['list', '--json']))
  const idOf = (reason) => checkpoints.findLast((row) => row.reason === reason).id
  const patch = idOf('Bash: git apply discount-codes.patch')
  const tests = idOf('Write test/discount.test.js')
  const server = await startUi({ program: PROGRAM, project, environment: environment() })
  const context = await (await browser()).newContext({
    viewport: SIZE,
    reducedMotion: 'reduce',
    timezoneId: afternoon(),
  })
  const page = await context.newPage()
  const shoot = async (name) => {
    await page.mouse.move(0, 0)
    await page.screenshot({ path: join(IMAGES, `page-${name}.png`) })
  }
  const show = (path) => page.goto(new URL(path, server.origin).href)
  await page.goto(server.url)
  await page.locator('[data-here-state=ready]').waitFor()
  await page.locator('[data-live=on]').waitFor()
  await shoot('timeline')
  await show(`/c/${patch}?file=src/cart.js`)
  await page.locator('[data-line]').first().waitFor()
  await shoot('checkpoint')
  await show(`/c/${tests}`)
  await page.locator('[data-line]').first().waitFor()
  await page.keyboard.press('r')
  const dialog = page.locator('dialog[data-dialog=restore]')
  await dialog.locator('[data-state=ready]').waitFor()
  await dialog.locator('[data-path="src/receipt.js"]').getByRole('button').first().click()
  await dialog.locator('[data-preview] [data-line]').first().waitFor()
  await shoot('restore')
  await show(`/s/${CLAUDE}?at=0`)
  await page.locator('[data-item]').first().waitFor()
  await shoot('session')
  await context.close()
  await closeBrowser()
  await server.stop()
}

/** A time zone in which it is about 16:00 now, so that the story is on one day. */
function afternoon() {
  const hours = 16 - new Date().getUTCHours()
  const east = hours > 14 ? hours - 24 : hours
  // The signs of these names are the wrong way round.
  return east === 0 ? 'Etc/GMT' : `Etc/GMT${east > 0 ? '-' : '+'}${Math.abs(east)}`
}

/** The browser tests have these modules in TypeScript. */
async function bundleTests() {
  const dir = join(root, 'build/pictures')
  const names = ['browser', 'ui-server', 'claude-transcript']
  const input = Object.fromEntries(
    names.map((name) => [name, join(root, `test/support/browser/${name}.ts`)]),
  )
  const build = await rolldown({ input, platform: 'node', external: ['playwright-core'] })
  await build.write({
    dir,
    format: 'esm',
    entryFileNames: '[name].mjs',
    chunkFileNames: '[name]-[hash].mjs',
  })
  await build.close()
  return (name) => import(pathToFileURL(join(dir, `${name}.mjs`)).href)
}

function write(files) {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(project, name)), { recursive: true })
    writeFileSync(join(project, name), text)
  }
}

function savestate(args, input = '') {
  minutesAgo -= 0.03
  const { status, stdout, stderr } = spawnSync(process.execPath, [PROGRAM, ...args], {
    cwd: project,
    input,
    encoding: 'utf8',
    env: {
      ...environment(),
      NODE_OPTIONS: `--require ${join(home, 'clock.cjs')}`,
      SHIFT_MS: String(Math.round(-minutesAgo * MINUTE_MS)),
    },
  })
  if (status !== 0) throw new Error(`savestate ${args.join(' ')}: ${stderr}`)
  return stdout
}

function tell(session, event, fields) {
  const agent = session === CLAUDE ? 'claude' : 'codex'
  const common = { session_id: session, transcript_path: transcripts[session], cwd: project }
  savestate(
    ['hook', agent, event],
    JSON.stringify({ ...common, hook_event_name: event, ...fields }),
  )
}

function claude(event, fields) {
  tell(CLAUDE, event, fields)
}

function append(line) {
  const entry = { ...line, timestamp: new Date(Date.now() - minutesAgo * MINUTE_MS).toISOString() }
  appendFileSync(transcripts[CLAUDE], `${JSON.stringify(entry)}\n`)
}

function ask(promptId, prompt) {
  minutesAgo -= 1
  claude('UserPromptSubmit', { prompt, prompt_id: promptId })
  append(transcript.prompt(promptId, prompt))
}

function say(text) {
  append(transcript.text(text))
}

function call(promptId, tool, input, work, { isError = false } = {}) {
  calls += 1
  minutesAgo -= 0.8
  const id = `toolu_${calls}`
  const fields = { prompt_id: promptId, tool_name: tool, tool_input: input, tool_use_id: id }
  append(transcript.call({ id, tool, input }))
  claude('PreToolUse', fields)
  const output = work() ?? `The file ${input.file_path ?? ''} has been updated.`
  if (isError) claude('PostToolUseFailure', { ...fields, error: output, is_interrupt: false })
  else claude('PostToolUse', { ...fields, tool_response: { stdout: output }, duration_ms: 900 })
  append(transcript.result({ id }, output, isError))
}

function edit(promptId, tool, path, text) {
  call(promptId, tool, { file_path: join(project, path) }, () => write({ [path]: text }))
}

/** The tests also write their output into the project. */
function report(text) {
  write({ 'test/report.txt': `${text}\n` })
  return text
}

function codex(event, fields) {
  tell(CODEX, event, { turn_id: 't-1', ...fields })
}

function codexCall(command, work) {
  calls += 1
  minutesAgo -= 0.8
  const fields = { tool_name: 'Bash', tool_input: { command }, tool_use_id: `call_${calls}` }
  codex('PreToolUse', fields)
  work()
  codex('PostToolUse', { ...fields, tool_response: { output: '' } })
}
