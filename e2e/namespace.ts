// A network namespace with loopback only, so that agents can reach nothing but the scripted model.
// It has its own process namespace too: processes that an agent leaves running end with the run.
import { spawn, spawnSync } from 'node:child_process'
import { networkInterfaces } from 'node:os'
import process from 'node:process'

const SPACES = ['--net', '--pid', '--fork', '--mount-proc', '--kill-child']

/** The shell stays: as the first process of its namespace it adopts orphans. */
const INSIDE = 'ip link set lo up || exit 1; "$@"; exit $?'

/** Runs a program in the namespace and returns its exit code. Throws if the system does not allow it. */
export async function runWithoutNetwork(program: string, args: readonly string[]): Promise<number> {
  const user = process.getuid?.() === 0 ? [] : ['--user', '--map-root-user']
  const unshare = [...user, ...SPACES, 'sh', '-c', INSIDE, 'sh']
  const attempt = spawnSync('unshare', [...unshare, 'true'], { encoding: 'utf8' })
  if (attempt.status !== 0) {
    const reason = attempt.error?.message ?? attempt.stderr.trim().split('\n')[0]
    throw new Error(`Agents run only where a network namespace can be made: ${reason}`)
  }
  // Its stdin is a pipe that closes when this process ends, for any reason; the processes inside then end too.
  const child = spawn('unshare', [...unshare, program, ...args], {
    stdio: ['pipe', 'inherit', 'inherit'],
  })
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code) => resolve(code ?? 1))
  })
}

/** For the program inside: ends it when the one outside has ended. */
export function endWithCaller(): void {
  process.stdin.on('end', () => process.exit(1)).resume()
}

/** All other checks rely on this one. */
export function hasOnlyLoopback(): boolean {
  return Object.values(networkInterfaces()).every((all) => all?.every((one) => one.internal))
}
