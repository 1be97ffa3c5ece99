// A place without a network: only loopback is there, so no agent can reach anything but the scripted model.
// Processes have a space of their own too: whatever an agent leaves running ends with the run.
import { spawn, spawnSync } from 'node:child_process'
import { networkInterfaces } from 'node:os'
import process from 'node:process'

const SPACES = ['--net', '--pid', '--fork', '--mount-proc', '--kill-child']

/** The shell stays: as the first process of its space it takes in what others leave behind. */
const INSIDE = 'ip link set lo up || exit 1; "$@"; exit $?'

/** Runs a program in there; its exit code. Throws where this system does not allow it. */
export async function runWithoutNetwork(program: string, args: readonly string[]): Promise<number> {
  const user = process.getuid?.() === 0 ? [] : ['--user', '--map-root-user']
  const unshare = [...user, ...SPACES, 'sh', '-c', INSIDE, 'sh']
  const attempt = spawnSync('unshare', [...unshare, 'true'], { encoding: 'utf8' })
  if (attempt.status !== 0) {
    const reason = attempt.error?.message ?? attempt.stderr.trim().split('\n')[0]
    throw new Error(`Agents run only where a network namespace can be made: ${reason}`)
  }
  // Its input is a pipe that ends with us, whatever ends us: then those inside end too.
  const child = spawn('unshare', [...unshare, program, ...args], {
    stdio: ['pipe', 'inherit', 'inherit'],
  })
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code) => resolve(code ?? 1))
  })
}

/** For the program inside: it ends when the one outside has. */
export function endWithCaller(): void {
  process.stdin.on('end', () => process.exit(1)).resume()
}

/** The claim that everything else here rests on. */
export function hasOnlyLoopback(): boolean {
  return Object.values(networkInterfaces()).every((all) => all?.every((one) => one.internal))
}
