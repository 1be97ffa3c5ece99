// Git servers on the loopback: git's own daemon, and `git http-backend` behind node:http. Each connection has a git of its own.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import {
  createServer as createHttpServer,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { GIT_ENVIRONMENT, runGit } from '../scratch.js'

export type GitServer = {
  readonly url: string
  /** The bare repository. */
  readonly repository: string
  /** Runs git in it. */
  git(...args: readonly string[]): string
  close(): Promise<void>
}

type ServeOptions = {
  /** The user and the password that an HTTP server demands. */
  readonly login?: string
  /** Asked about each request. False: the server hangs up. */
  readonly isUp?: (path: string) => boolean
  /** True: it does the work, and hangs up. */
  readonly losesAnswer?: (path: string) => boolean
  /** True: it never answers. */
  readonly isSilent?: (path: string) => boolean
}

function createRepository() {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'savestate-git-server-')))
  const repository = join(folder, 'team.git')
  mkdirSync(repository)
  const git = (...args: readonly string[]) => runGit(args, { cwd: repository })
  git('init', '--quiet', '--bare')
  // No test cuts the power, and a push should not wait for the disk and for a maintenance that finds nothing.
  git('config', 'core.fsync', 'none')
  git('config', 'receive.autogc', 'false')
  return { folder, repository, git, remove: () => rmSync(folder, { recursive: true, force: true }) }
}

export async function serveFiles(): Promise<GitServer> {
  const { repository, git, remove } = createRepository()
  return { url: `file://${repository}`, repository, git, close: async () => remove() }
}

export async function serveGit(): Promise<GitServer> {
  const { folder, repository, git, remove } = createRepository()
  const children = new Set<ChildProcess>()
  const args = [
    'daemon',
    '--inetd',
    '--export-all',
    '--enable=receive-pack',
    `--base-path=${folder}`,
  ]
  const server = createServer({ pauseOnConnect: true }, (socket) => {
    const child = spawn('git', [...args, folder], {
      env: GIT_ENVIRONMENT,
      stdio: [socket, socket, 'ignore'],
    })
    children.add(child)
    child.on('close', () => {
      children.delete(child)
      socket.destroy()
    })
    socket.on('error', () => undefined)
  })
  const port = await listen(server)
  const close = async () => {
    for (const child of children) child.kill()
    await closeServer(server)
    remove()
  }
  return { url: `git://127.0.0.1:${port}/team.git`, repository, git, close }
}

export async function serveHttp({
  login,
  isUp = () => true,
  losesAnswer = () => false,
  isSilent = () => false,
}: ServeOptions = {}): Promise<GitServer> {
  const { folder, repository, git, remove } = createRepository()
  git('config', 'http.receivepack', 'true')
  const server = createHttpServer((request, response) => {
    const isAllowed = login === undefined || request.headers.authorization === basic(login)
    const { pathname } = new URL(request.url ?? '/', 'http://localhost')
    if (isSilent(pathname)) return
    if (!isUp(pathname)) request.socket.destroy()
    else if (isAllowed)
      runBackend({ folder, losesAnswer: losesAnswer(pathname) }, request, response)
    else response.writeHead(401, { 'www-authenticate': 'Basic realm="git"' }).end()
  })
  const port = await listen(server)
  const close = async () => {
    server.closeAllConnections()
    await closeServer(server)
    remove()
  }
  return { url: `http://127.0.0.1:${port}/team.git`, repository, git, close }
}

function basic(login: string): string {
  return `Basic ${Buffer.from(login).toString('base64')}`
}

/** As a web server runs a CGI program. */
function runBackend(
  { folder, losesAnswer }: { readonly folder: string; readonly losesAnswer: boolean },
  request: IncomingMessage,
  response: ServerResponse,
): void {
  const { pathname, search } = new URL(request.url ?? '/', 'http://localhost')
  const { headers, method = 'GET' } = request
  const child = spawn('git', ['http-backend'], {
    env: {
      ...GIT_ENVIRONMENT,
      GIT_PROJECT_ROOT: folder,
      GIT_HTTP_EXPORT_ALL: '1',
      PATH_INFO: pathname,
      QUERY_STRING: search.slice(1),
      REQUEST_METHOD: method,
      REMOTE_ADDR: '127.0.0.1',
      REMOTE_USER: 'user',
      CONTENT_TYPE: headers['content-type'] ?? '',
      ...(headers['content-length'] === undefined
        ? {}
        : { CONTENT_LENGTH: headers['content-length'] }),
      HTTP_CONTENT_ENCODING: headers['content-encoding'] ?? '',
      GIT_PROTOCOL: String(headers['git-protocol'] ?? ''),
    },
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  request.pipe(child.stdin)
  child.stdin.on('error', () => undefined)
  let head = Buffer.alloc(0)
  let hasHead = false
  child.stdout.on('data', (chunk: Buffer) => {
    if (losesAnswer) return
    if (hasHead) {
      response.write(chunk)
      return
    }
    head = Buffer.concat([head, chunk])
    const end = head.indexOf('\r\n\r\n')
    if (end === -1) return
    hasHead = true
    const lines = head.toString('latin1', 0, end).split('\r\n')
    const fields = lines.map((line) => line.split(': ') as [string, string])
    const status = fields.find(([name]) => name === 'Status')?.[1] ?? '200'
    response.statusCode = Number.parseInt(status, 10)
    for (const [name, value] of fields) if (name !== 'Status') response.setHeader(name, value)
    response.write(head.subarray(end + 4))
  })
  child.on('close', () => (losesAnswer ? request.socket.destroy() : response.end()))
}

async function listen(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

async function closeServer(server: Server): Promise<void> {
  server.close()
  await once(server, 'close')
}
