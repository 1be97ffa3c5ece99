// Makes src/snapshot/objects/content-program.ts of wasm/ (AssemblyScript). Both are in the repository: who builds the package
// needs no second compiler for what seldom changes.
//   node scripts/wasm.mjs            writes it
//   node scripts/wasm.mjs --check    ends with 1 if it is not what wasm/ gives
import { readFileSync, writeFileSync } from 'node:fs'
import process from 'node:process'
import { main } from 'assemblyscript/asc'

const PROGRAM = 'src/snapshot/objects/content-program.ts'
const LINE = 120
const OPTIONS = ['-O3', '--noAssert', '--runtime', 'stub', '--use', 'abort=', '--enable', 'simd']
/** Of 64 KB: up to the end of what is at EXPANDED (wasm/places.ts). */
const PAGES = ['--initialMemory', '18', '--maximumMemory', '18']

const text = await programText()
if (!process.argv.includes('--check')) {
  writeFileSync(PROGRAM, text)
} else if (readFileSync(PROGRAM, 'utf8') !== text) {
  console.error(`${PROGRAM} is not what wasm/ gives. Run \`node scripts/wasm.mjs\`.`)
  process.exitCode = 1
}

async function programText() {
  let module
  let complaints = ''
  const { error } = await main(
    ['wasm/main.ts', '--outFile', 'content.wasm', ...OPTIONS, ...PAGES],
    {
      stderr: { write: (text) => (complaints += text) },
      writeFile: (_, contents) => (module = contents),
    },
  )
  if (error !== null) throw new Error(`wasm/ does not compile:\n${complaints}`)
  const lines = Buffer.from(module)
    .toString('base64')
    .match(new RegExp(`.{1,${LINE}}`, 'g'))
  return `// Made by scripts/wasm.mjs of wasm/: not to be changed by hand.

export const CONTENT_PROGRAM = [
${lines.map((line) => `  '${line}',\n`).join('')}].join('')
`
}
