// A program that asks a remote for its sessions, and then has nothing more to do.
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))
/** Less than an idle connection stays open, so a connection that keeps the process alive makes it fail. */
const LIMIT_MS = 25_000

/** The exit code and output of the program; null if it did not end by itself. */
export async function runProgram(
  url: string,
): Promise<{ readonly code: number | null; readonly output: string }> {
  // Inside the repository, because it imports `pg`.
  mkdirSync(join(ROOT, 'build'), { recursive: true })
  const folder = mkdtempSync(join(ROOT, 'build', 'program-'))
  try {
    const main = join(folder, 'main.ts')
    const remote = join(ROOT, 'src', 'remote', 'index.ts')
    writeFileSync(
      main,
      `import { openRemote } from ${JSON.stringify(remote)}
const remote = await openRemote({ url: process.argv[2] })
console.log((await remote.heads()).length)
`,
    )
    const bundle = await rolldown({ input: main, platform: 'node', external: ['pg'] })
    await bundle.write({ dir: folder, format: 'esm', entryFileNames: 'main.mjs' })
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      [join(folder, 'main.mjs'), url],
      { encoding: 'utf8', timeout: LIMIT_MS },
    )
    return { code: status, output: stdout + stderr }
  } finally {
    rmSync(folder, { recursive: true })
  }
}
