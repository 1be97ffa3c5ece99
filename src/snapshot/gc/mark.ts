// Finds the objects that checkpoints refer to. If git cannot traverse a ref completely, this throws rather than guess.
import type { Readable, Writable } from 'node:stream'
import { gitFault, startFault, startGit } from '../git/git-program.js'

const REV_LIST = ['rev-list', '--objects', '--stdin']

/** Every object that is reachable from these commits, including the commits. */
export async function reachableFrom(
  gitDir: string,
  commits: Iterable<string>,
): Promise<Set<string>> {
  const found = new Set<string>()
  const input = [...commits]
  // Without input git would print its usage.
  if (input.length === 0) return found
  await eachLine(gitDir, { args: [...REV_LIST, '--no-object-names'], input }, (line) => {
    found.add(line)
  })
  return found
}

/** The same, with a path after each object, which helps git find similar objects. `take` gets whole lines. */
export function listForPacking(
  gitDir: string,
  commits: Iterable<string>,
  take: (id: string, line: string) => void,
): Promise<void> {
  return eachLine(gitDir, { args: REV_LIST, input: commits }, (line) =>
    take(line.slice(0, 40), line),
  )
}

export async function eachLine(
  gitDir: string,
  { args, input }: { readonly args: readonly string[]; readonly input: Iterable<string> },
  take: (line: string) => void,
): Promise<void> {
  const child = startGit(gitDir, args)
  const complaints: Buffer[] = []
  child.stderr.on('data', (chunk: Buffer) => complaints.push(chunk))
  const ended = new Promise<number | null>((resolve, reject) => {
    child.on('error', (error) => reject(startFault(error)))
    child.on('close', resolve)
  })
  const [status] = await Promise.all([
    ended,
    writeLines(child.stdin, input),
    readLines(child.stdout, take),
  ])
  if (status !== 0) throw gitFault(args, `${status}: ${Buffer.concat(complaints).toString('utf8')}`)
}

/** Not `readline`: it would split at carriage returns, which may be part of a file name. */
async function readLines(output: Readable, take: (line: string) => void): Promise<void> {
  // File names may be any bytes; latin1 preserves each of them.
  output.setEncoding('latin1')
  let rest = ''
  for await (const chunk of output) {
    const lines = (rest + String(chunk)).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) take(line)
  }
}

async function writeLines(stdin: Writable, lines: Iterable<string>): Promise<void> {
  // git may exit before its input ends; its exit code says why.
  stdin.on('error', () => stdin.destroy())
  for (const line of lines) {
    if (stdin.destroyed) return
    if (!stdin.write(`${line}\n`, 'latin1'))
      await new Promise<void>((resolve) => {
        const resume = () => {
          stdin.off('drain', resume).off('close', resume)
          resolve()
        }
        stdin.once('drain', resume).once('close', resume)
      })
  }
  stdin.end()
}
