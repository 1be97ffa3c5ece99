import { expect, test } from 'vitest'
import { parseRemoteUrl, SavestateError } from '../../../src/model/index.js'

const SECRET = 's3cret'

test('the label of a remote has no user, password, query or fragment', () => {
  const urls = [
    [
      `postgres://bob:${SECRET}@db.example.org:6543/agents`,
      'postgres',
      'db.example.org:6543/agents',
    ],
    [`postgresql://db.example.org/a%20b?password=${SECRET}`, 'postgres', 'db.example.org/a b'],
    [
      `postgres:///agents?host=/run/postgresql&password=${SECRET}`,
      'postgres',
      '/run/postgresql/agents',
    ],
    ['postgres://localhost', 'postgres', 'localhost'],
    [`https://bob:${SECRET}@example.org/a.git#${SECRET}`, 'git', 'https://example.org/a.git'],
    [`https://${SECRET}@example.org/a.git?t=${SECRET}`, 'git', 'https://example.org/a.git'],
    ['ssh://git@example.org:2222/a.git', 'git', 'ssh://example.org:2222/a.git'],
    ['git@example.org:team/a.git', 'git', 'example.org:team/a.git'],
    ['file:///srv/a.git', 'git', 'file:///srv/a.git'],
    [`http://bob:${SECRET}@127.0.0.1:8080/a`, 'git', 'http://127.0.0.1:8080/a'],
  ] as const
  const found = urls.map(([url]) => {
    const { kind, label, url: kept } = parseRemoteUrl(url)
    return [kept, kind, label]
  })
  expect(found).toEqual(urls)
})

test('an absolute path is a file URL, and the URL of a database may name its schema', () => {
  expect(parseRemoteUrl('/srv/a b.git').url).toBe('file:///srv/a%20b.git')
  expect(parseRemoteUrl('postgres://h/d?schema=blue').schema).toBe('blue')
})

test('what is no URL of a remote is refused without its text', () => {
  const wrong = [
    '',
    SECRET,
    `./${SECRET}`,
    `postgres://bob:${SECRET}@[bad/x`,
    `postgres://h/%${SECRET}`,
    `mysql://bob:${SECRET}@h/x`,
    `ext::sh -c ${SECRET}`,
    `-u${SECRET}:x`,
    `ssh://-o${SECRET}/x`,
    `C:\\${SECRET}`,
    `host:${SECRET}`,
    `http://bob:${SECRET}@example.org/a.git`,
    'git://example.org/a.git',
  ]
  for (const url of wrong) {
    const error = errorOf(() => parseRemoteUrl(url))
    expect([url, error.code]).toEqual([url, 'BAD_INPUT'])
    expect(JSON.stringify(error)).not.toContain(SECRET)
  }
})

function errorOf(call: () => unknown): SavestateError {
  try {
    call()
  } catch (error) {
    if (error instanceof SavestateError) return error
    throw error
  }
  throw new Error('It was accepted')
}
