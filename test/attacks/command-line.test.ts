// An index of attacks on the command line, by stored text on a terminal, and through the daemon, with the required
// outcomes.
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { type IncomingMessage, request } from 'node:http'
import { connect } from 'node:net'
import { join } from 'node:path'
import { describe } from 'vitest'
import { UNSAFE_CHARACTERS } from '../../src/base/index.js'
import { environmentFingerprint } from '../../src/daemon/index.js'
import { ACTING, AGENT, type ProgramTarget, useProgram } from './program-target.js'

let port = 0
let token = ''

const { testRows, testUnchanged } = useProgram((s) => {
  s.write({ git: '#!/bin/sh\ntouch ../outside/ran\n' })
  chmodSync(join(s.project, 'git'), 0o755)
  port = s.daemon('start', '--http').port ?? 0
  token = String(JSON.parse(readFileSync(join(s.home, 'daemon/http.json'), 'utf8')).token)
})

const byUser =
  (...args: readonly string[]) =>
  (s: ProgramTarget) =>
    s.refusal(args)

describe('paths on the command line', () => {
  const REFUSED = [2, 'BAD_INPUT']
  testRows([
    ['rewind a path above the project', byUser('rewind', '1', '-y', '--path=../outside'), REFUSED],
    ['rewind an empty path', byUser('rewind', '1', '-y', '--path='), REFUSED],
    ['compare an absolute path', byUser('diff', '1', '--', '/etc/passwd'), REFUSED],
    ['print a file above the project', byUser('cat', '1', '../outside/precious'), REFUSED],
    ['forget a path above the project', byUser('forget', '../outside/precious', '-y'), REFUSED],
    ['forget the store behind a link', byUser('forget', 'link/ledger.db', '-y'), REFUSED],
    [
      'save the folder of the store',
      (s) => s.refusal(['-C', s.home, 'save']),
      [2, 'PROJECT_REFUSED'],
    ],
  ])
})

describe('stored text reaches the terminal', () => {
  /** The characters in the output that act on a terminal or are invisible. */
  const acting =
    (...args: readonly string[]) =>
    (s: ProgramTarget) => {
      const { code, stdout, stderr } = s.run(args)
      const found = (stdout + stderr).replaceAll('\n', '').match(UNSAFE_CHARACTERS)
      return [code, found, stdout.includes('evil')]
    }
  /** The text that bash inserts on Tab after `savestate show`. */
  const completed = (word: string) => (s: ProgramTarget) => {
    const script = `source <(savestate completion bash)
      COMP_LINE="savestate show $1" COMP_POINT=$((15 + \${#1})) COMP_WORDS=(savestate show "$1") COMP_CWORD=2
      _savestate; printf '%s\\n' "\${COMPREPLY[@]}"`
    mkdirSync(join(s.folder, 'scripts'), { recursive: true })
    writeFileSync(join(s.folder, 'scripts/complete.sh'), script)
    const { stdout } = s.shell(`bash ../scripts/complete.sh '${word}'`)
    return stdout.split('\n').slice(0, -1).sort()
  }
  testRows([
    ['a reason with escape sequences, in a list', acting('list'), [0, null, true]],
    ['a reason with escape sequences, as JSON', acting('list', '--json'), [0, null, true]],
    [
      'a file name with escape sequences, in a plan',
      acting('rewind', 'works', '--dry-run'),
      [0, null, true],
    ],
    ['an argument with escape sequences, in an error', acting('show', ACTING), [2, null, false]],
    ['Tab inside double quotes offers a name with a command in it', completed('"wor'), ['works']],
    [
      'Tab without quotes offers it escaped',
      completed('wor'),
      ['works', String.raw`works\$\(touch\ ../outside/ran\)`],
    ],
  ])
})

describe('a repository contains files that mislead a command', () => {
  testRows([
    [
      'install --project behind a link out of the project',
      byUser('install', 'claude', '--project', '-y'),
      [2, 'CONFIG_INVALID'],
    ],
    [
      'a program called git, and a PATH that begins with the current folder',
      (s) => {
        const { code } = s.run(['diff', 'works'], { env: { PATH: `.:${s.environment['PATH']}` } })
        return [code, existsSync(join(s.outside, 'ran'))]
      },
      [0, false],
    ],
  ])
})

describe('a program connects to the daemon', () => {
  type Asked = {
    readonly headers?: Readonly<Record<string, string>>
    readonly body?: string
    readonly path?: string
  }
  const ask = ({ headers = {}, body = '{}', path = '/v1/save' }: Asked) =>
    new Promise<unknown>((resolve, reject) => {
      const sent = request({ host: '127.0.0.1', port, method: 'POST', path, headers }, (response) =>
        resolve(answerOf(response)),
      )
      // A refused body may meet a connection that is already closed.
      sent.on('error', (fault: Error & { code?: string }) => {
        if (fault.code !== 'EPIPE') reject(fault)
      })
      sent.end(body)
    })
  const answerOf = async (response: IncomingMessage) => {
    let text = ''
    for await (const part of response) text += String(part)
    return [response.statusCode, JSON.parse(text).error.code]
  }
  const bearer = () => ({ authorization: `Bearer ${token}` })
  /** The first answer on the socket, to a caller with the user's fingerprint. */
  const askSocket = (request: object) => (s: ProgramTarget) =>
    new Promise<unknown>((resolve, reject) => {
      const address = JSON.parse(readFileSync(join(s.home, 'daemon/address.json'), 'utf8'))
      const own = JSON.parse(environmentFingerprint(s.environment))
      const setting = JSON.stringify([...own.slice(0, 5), s.environment['HOME'], ...own.slice(6)])
      const call = { build: address.build, setting, home: s.home, folder: s.project, ...request }
      const connection = connect(address.socket)
      connection.once('error', reject)
      connection.once('data', (text) => {
        connection.destroy()
        resolve(JSON.parse(String(text)))
      })
      connection.write(`${JSON.stringify(call)}\n`)
    })
  testRows([
    ['rewind over the socket', askSocket({ do: 'rewind', ref: 'works' }), { refused: 'request' }],
    [
      'run a command over the socket',
      askSocket({ do: 'run', argv: ['forget', 'a.txt', '-y'] }),
      { refused: 'request' },
    ],
    [
      'report an unknown agent',
      askSocket({ do: 'hook', agent: 'x', eventName: 'Stop' }),
      { refused: 'request' },
    ],
    // The caller above is otherwise accepted.
    [
      'save over the socket, which is no attack',
      askSocket({ do: 'save', input: {} }),
      { ready: true },
    ],
    ['HTTP without a token', () => ask({}), [401, 'ACCESS_REFUSED']],
    [
      'HTTP with a wrong token',
      () => ask({ headers: { authorization: `Bearer ${token}x` } }),
      [401, 'ACCESS_REFUSED'],
    ],
    [
      'HTTP under a name of the attacker that leads to 127.0.0.1',
      () => ask({ headers: { ...bearer(), host: `evil.example:${port}` } }),
      [403, 'ACCESS_REFUSED'],
    ],
    [
      'HTTP from a page in the browser',
      () => ask({ headers: { ...bearer(), origin: 'https://evil.example' } }),
      [403, 'ACCESS_REFUSED'],
    ],
    [
      'HTTP with a body that is too large',
      () => ask({ headers: bearer(), body: 'x'.repeat(70_000) }),
      [413, 'BAD_INPUT'],
    ],
    [
      'a rewind over HTTP',
      () => ask({ headers: bearer(), path: '/v1/rewind' }),
      [404, 'BAD_INPUT'],
    ],
    [
      'HTTP saves the root of the disk',
      () => ask({ headers: bearer(), body: '{"path":"/"}' }),
      [403, 'PROJECT_REFUSED'],
    ],
    [
      'an agent prints the plan of an install to read the token',
      (s) => {
        const { stdout } = s.run(['install', 'claude', '--http', '--dry-run'], AGENT)
        return [stdout.includes('Bearer ********'), stdout.includes(token)]
      },
      [true, false],
    ],
  ])
})

testUnchanged()
