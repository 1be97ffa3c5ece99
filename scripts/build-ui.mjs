// Builds the page of `savestate ui` into dist/ui: hashed files with their brotli form beside them, and index.html.
import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { brotliCompressSync, constants } from 'node:zlib'
import { rolldown } from 'rolldown'

const DIR = 'dist/ui'
// The first ones in this order, then those of the views.
const STYLES = ['tokens.css', 'base.css', 'frame.css']
const WORKERS = { 'highlight-worker': 'ui/highlight/worker.ts' }

export async function buildUi() {
  rmSync(DIR, { recursive: true, force: true })
  mkdirSync(`${DIR}/assets`, { recursive: true })
  const wasm = writeAsset(
    'highlights.wasm',
    readFileSync('node_modules/@pierre/highlights/dist/highlights.wasm'),
  )
  // The worker is a file of its own: it loads nothing of the page.
  const defines = { HIGHLIGHTS_WASM: JSON.stringify(wasm) }
  for (const [name, input] of Object.entries(WORKERS)) {
    const [{ code }] = await bundle({ [name]: input }, defines, FROM_FILE)
    defines.HIGHLIGHT_WORKER = JSON.stringify(writeAsset(`${name}.js`, code))
  }
  const chunks = await bundle({ main: 'ui/main.tsx' }, defines)
  for (const { fileName, code } of chunks) writeFile(fileName, code)
  const css = writeAsset('page.css', readStyles())
  const icon = writeAsset('icon.svg', readFileSync('ui/icon.svg'))
  const main = chunks.find(({ isEntry }) => isEntry).fileName
  const html = readFileSync('ui/index.html', 'utf8')
    .replace('/page.css', css)
    .replace('/assets/icon.svg', icon)
    .replace('/main.js', `/${main}`)
  writeFile('index.html', html)
  await buildExport()
}

/** One file with everything inside, for `--export`: the data takes the place of its mark. */
async function buildExport() {
  const options = { codeSplitting: false, format: 'iife' }
  const defines = { HIGHLIGHT_WORKER: '""', HIGHLIGHTS_WASM: '""' }
  const [{ code }] = await bundle({ export: 'ui/export.tsx' }, defines, {}, options)
  const script = code.replaceAll('</script', String.raw`<\/script`)
  const style = readStyles()
  const policy = [
    "default-src 'none'",
    `script-src '${hashOf(script)}'`,
    `style-src '${hashOf(style)}'`,
    'img-src blob: data:',
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ')
  // Functions, because `$&` in the code would be a pattern.
  const html = readFileSync('ui/export.html', 'utf8')
    .replace('<!--policy-->', () => policy)
    .replace('<!--style-->', () => style)
    .replace('<!--script-->', () => script)
  writeFileSync(`${DIR}/export.html`, html)
}

function hashOf(text) {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`
}

// With the condition `workerd`, @pierre/highlights imports its WebAssembly as a module instead of carrying it as text.
const FROM_FILE = {
  resolve: { conditionNames: ['workerd', 'import'] },
  plugins: [
    {
      name: 'wasm-from-address',
      load: (id) =>
        id.endsWith('.wasm')
          ? 'export default await WebAssembly.compile(await (await fetch(HIGHLIGHTS_WASM)).arrayBuffer())'
          : undefined,
    },
  ],
}

async function bundle(input, define, options = {}, output = {}) {
  const build = await rolldown({
    ...options,
    input,
    platform: 'browser',
    tsconfig: 'ui/tsconfig.json',
    transform: { define: { 'process.env.NODE_ENV': '"production"', ...define } },
  })
  const { output: made } = await build.generate({
    format: 'esm',
    minify: true,
    entryFileNames: 'assets/[name]-[hash].js',
    chunkFileNames: 'assets/[name]-[hash].js',
    ...output,
  })
  await build.close()
  return made
}

function readStyles() {
  const others = readdirSync('ui/styles').filter((name) => !STYLES.includes(name))
  const texts = [...STYLES, ...others.sort()].map((name) =>
    readFileSync(`ui/styles/${name}`, 'utf8'),
  )
  return ['@layer base, frame, views, print;\n', ...texts].join('')
}

/** Returns the address of the file. */
function writeAsset(name, content) {
  const hash = createHash('sha256').update(content).digest('base64url').slice(0, 8)
  const [base, extension] = name.split('.')
  const path = `assets/${base}-${hash}.${extension}`
  writeFile(path, content)
  return `/${path}`
}

function writeFile(path, content) {
  const bytes = Buffer.from(content)
  writeFileSync(`${DIR}/${path}`, bytes)
  const params = { [constants.BROTLI_PARAM_QUALITY]: 9 }
  writeFileSync(`${DIR}/${path}.br`, brotliCompressSync(bytes, { params }))
}
