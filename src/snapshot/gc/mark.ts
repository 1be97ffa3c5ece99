// Which objects the checkpoints hold. Never a guess: if git cannot follow a ref to the end, nothing is known.
import type { Readable, Writable } from 'node:stream'
import { gitFault, startFault, startGit } from '../git/git-program.js'

const REV_LIST = ['rev-list', '--objects', '--stdin']

/** Every object that these commits lead to, themselves included. */
export async function reachableFrom(
  gitDir: string,
  commits: Iterable<string>,
): Promise<Set<string>> {
  const found = new Set<string>()
  const input = [...commits]
  // Without any, git would ask how it is used.
  if (input.length === 0) return found
  await eachLine(gitDir, { args: [...REV_LIST, '--no-object-names'], input }, (line) => {
    found.add(line)
  })
  return found
}

/** The same with a name behind each object, which tells git what is alike; `take` gets whole lines. */
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

/** By hand: a name may hold a carriage return, which `readline` takes for the end of a line. */
async function readLines(output: Readable, take: (line: string) => void): Promise<void> {
  // Names of files may be any bytes; latin1 keeps each of them.
  output.setEncoding('latin1')
  let rest = ''
  for await (const chunk of output) {
    const lines = (rest + String(chunk)).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) take(line)
  }
}

async function writeLines(stdin: Writable, lines: Iterable<string>): Promise<void> {
  // git may end before its input does; its exit code tells why.
  stdin.on('error', () => stdin.destroy())
  for (const line of lines) {
    if (stdin.destroyed) return
    if (!stdin.write(`${line}\n`, 'latin1'))
      await new Promise<void>((resolve) => {
        const goOn = () => {
          stdin.off('drain', goOn).off('close', goOn)
          resolve()
        }
        stdin.once('drain', goOn).once('close', goOn)
      })
  }
  stdin.end()
}
