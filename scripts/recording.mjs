// Makes docs/images/recording.svg, the picture at the top of the README: plays the story of an agent with the real program in a
// scratch folder, on a terminal, and draws the screen. The agent is simulated: its events are sent to our hooks
// as Claude Code sends them. Only ids and times differ between runs.
import { spawn, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

const PROGRAM = fileURLToPath(new URL('../dist/cli/bin.js', import.meta.url))
const PICTURE = fileURLToPath(new URL('../docs/images/recording.svg', import.meta.url))
const COLUMNS = 96
const PICKER_ROWS = 14
const LIMIT_MS = 60_000
const CLASSES = { 1: 'bold', 2: 'dim', 31: 'red', 32: 'green', 33: 'yellow', 36: 'cyan' }

const scratch = realpathSync(mkdtempSync(join(tmpdir(), 'savestate-recording-')))
process.on('exit', () => rmSync(scratch, { recursive: true, force: true }))
const home = join(scratch, 'home')
const project = join(home, 'shop')
const transcript = join(home, 'transcript.jsonl')
for (const folder of ['bin', 'home/.claude', 'home/shop/src'])
  mkdirSync(join(scratch, folder), { recursive: true })
symlinkSync(PROGRAM, join(scratch, 'bin', 'savestate'))
const environment = {
  PATH: `${join(scratch, 'bin')}:${process.env.PATH}`,
  HOME: home,
  TMPDIR: scratch,
  TERM: 'xterm-256color',
  SHELL: '/bin/sh',
  LC_ALL: 'C.UTF-8',
  SAVESTATE_NO_DAEMON: '1',
}

/** The lines of the picture; `after` is the pause in seconds before a line. */
const shown = []

await play()
writeFileSync(PICTURE, picture(shown))

async function play() {
  writeFileSync(join(project, 'src', 'cart.js'), 'export const total = (cart) => cart.sum\n')
  writeFileSync(join(project, 'src', 'tax.js'), 'export const tax = 0.19\n')
  await type('savestate install claude --yes')
  agent([
    'You      Add discounts to the cart',
    ['UserPromptSubmit', { prompt: 'Add discounts to the cart', prompt_id: 'p-1' }],
    'Claude   Write src/discount.js',
    ['PreToolUse', tool('Write', { file_path: join(project, 'src', 'discount.js') })],
    () =>
      writeFileSync(join(project, 'src', 'discount.js'), 'export const off = (sum) => sum * 0.9\n'),
    ['PostToolUse', tool('Write', { file_path: join(project, 'src', 'discount.js') })],
    ['Stop', {}],
    'You      Clean up after the build',
    ['UserPromptSubmit', { prompt: 'Clean up after the build', prompt_id: 'p-2' }],
    'Claude   Bash  rm -rf dist src',
    ['PreToolUse', tool('Bash', { command: 'rm -rf dist src' })],
    () => rmSync(join(project, 'src'), { recursive: true }),
    ['PostToolUse', tool('Bash', { command: 'rm -rf dist src' })],
    ['Stop', {}],
  ])
  await type('ls src')
  await pick()
  await type('ls src')
}

function tool(name, input) {
  return { tool_name: name, tool_input: input, tool_use_id: `${name}-1` }
}

/** Shows texts, sends events to the hook, and runs everything else. */
function agent(steps) {
  line({ text: '$ claude', kind: 'typed', after: 1 })
  const entries = []
  for (const step of steps) {
    if (typeof step === 'string')
      line({ text: step, kind: step.includes('rm -rf') ? 'danger' : 'agent', after: 0.8 })
    else if (typeof step === 'function') step()
    else tell(step, entries)
  }
}

function tell([eventName, fields], entries) {
  if (fields.prompt !== undefined)
    entries.push({ type: 'user', promptId: fields.prompt_id, message: { content: fields.prompt } })
  if (eventName === 'Stop')
    entries.push({
      type: 'assistant',
      message: { content: [{ type: 'text', text: 'Done.' }] },
    })
  const common = { session_id: 'shop-1', cwd: project, transcript_path: transcript }
  const payload = { ...common, hook_event_name: eventName, ...fields }
  const { stdout, stderr } = spawnSync('savestate', ['hook', 'claude', eventName], {
    cwd: project,
    env: environment,
    input: JSON.stringify(payload),
    encoding: 'utf8',
  })
  if (stdout + stderr !== '') throw new Error(`The hook said: ${stdout}${stderr}`)
  // As Claude Code does, after its hook.
  writeFileSync(transcript, entries.map((entry) => `${JSON.stringify(entry)}\n`).join(''))
}

/** A command on a terminal, and what it prints. */
async function type(command) {
  line({ text: `$ ${command}`, kind: 'typed', after: 1 })
  for (const text of linesOf(await onTerminal(command, async () => undefined))) line({ text })
}

/** The picker: to just before the accident, with files and conversation. */
async function pick() {
  line({ text: '$ savestate rewind', kind: 'typed', after: 1 })
  const output = await onTerminal('savestate rewind', async ({ shows, press }) => {
    await shows('Go back to which')
    press('\u001b[B')
    await shows('> 1')
    await shows('+ src/cart.js')
    press('b')
    await shows('before or after this call?')
    press('\r')
    await shows('[y/N]')
    press('y\n')
  })
  const [drawn, after] = output.split('\u001b[?1049l')
  const frame = drawn
    .slice(drawn.lastIndexOf('\u001b[H') + 3)
    .replaceAll(/\u001b\[[JK]|\u001b\[\?25h/g, '')
  for (const text of linesOf(frame)) line({ text, kind: 'screen' })
  for (const text of linesOf(after)) line({ text })
}

async function onTerminal(command, act) {
  const size = `stty rows ${PICKER_ROWS} cols ${COLUMNS}`
  const child = spawn('script', ['-qec', `${size}; ${command}`, '/dev/null'], {
    cwd: project,
    env: environment,
  })
  let output = ''
  child.stdout.on('data', (text) => (output += String(text)))
  const ended = new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', resolve)
  })
  await act({
    press: (keys) => child.stdin.write(keys),
    async shows(text) {
      const until = Date.now() + LIMIT_MS
      while (!output.includes(text)) {
        if (Date.now() > until) throw new Error(`Not shown: ${text}\n${output}`)
        await sleep(20)
      }
    },
  })
  await ended
  return output
}

function linesOf(text) {
  const plain = text.replaceAll('\r', '').replaceAll(home, '/home/you')
  return plain.replace(/\n+$/, '').replace(/^\n+/, '').split('\n')
}

function line({ text, kind = 'said', after = 0.15 }) {
  shown.push({ text, kind, after })
}

/** Animated once from top to bottom; without animation everything is visible at once. */
function picture(lines) {
  const [step, left, top, width] = [19, 22, 58, 870]
  const wrapped = lines.flatMap(wrap)
  const height = top + wrapped.length * step + 14
  let seconds = 0.3
  const texts = wrapped.map(({ text, kind, after }, at) => {
    seconds += after
    const y = top + at * step
    const band =
      kind === 'screen'
        ? `<rect x="12" y="${y - 14}" width="${width - 24}" height="${step}" class="band"/>`
        : ''
    return `<g style="animation-delay:${seconds.toFixed(2)}s">${band}<text xml:space="preserve" x="${left}" y="${y}" class="${kind}">${spans(text)}</text></g>`
  })
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-label="A terminal: an agent removes the sources, and savestate rewind brings files and conversation back">
<!-- Made by scripts/recording.mjs from what the program prints. -->
<style>
text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;fill:#d7dde4;white-space:pre}
.typed{fill:#ffffff;font-weight:bold}.agent{fill:#b9a5ff}.danger{fill:#ff8f87}.band{fill:#222b36}
.bold{font-weight:bold}.dim{fill:#93a0ad}.red{fill:#ff8f87}.green{fill:#7ee2a0}.yellow{fill:#f2cc60}.cyan{fill:#76d9e6}
@media (prefers-reduced-motion:no-preference){g{opacity:0;animation:come .2s forwards}@keyframes come{to{opacity:1}}}
</style>
<rect width="${width}" height="${height}" rx="10" fill="#161b22" stroke="#3b4552"/>
<circle cx="24" cy="22" r="6" fill="#ff6a5f"/><circle cx="44" cy="22" r="6" fill="#f4be4f"/><circle cx="64" cy="22" r="6" fill="#61c654"/>
${texts.join('\n')}
</svg>
`
}

/** Wraps longer lines, as a terminal of this width does. */
function wrap(one) {
  const parts = []
  let rest = one.text
  while (plainOf(rest).length > COLUMNS && plainOf(rest) === rest) {
    parts.push(rest.slice(0, COLUMNS))
    rest = rest.slice(COLUMNS)
  }
  return [...parts, rest].map((text, at) => ({ ...one, text, after: at === 0 ? one.after : 0 }))
}

/** Splits a line into colored parts. */
function spans(text) {
  let colour
  return text
    .split(/\u001b\[(\d+)m/)
    .map((part, at) => {
      if (at % 2 === 1) {
        colour = CLASSES[part]
        return ''
      }
      const safe = part.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
      return colour === undefined || safe === '' ? safe : `<tspan class="${colour}">${safe}</tspan>`
    })
    .join('')
}

function plainOf(text) {
  return text.replaceAll(/\u001b\[\d+m/g, '')
}
