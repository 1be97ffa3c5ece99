// Secrets are masked, ordinary text stays, and hostile text costs no more per character than other text.
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { maskSecrets } from '../../src/base/index.js'

const M = '••••••'
// Put together here, so that no scanner takes this file for a leak.
const join = (...parts: readonly string[]) => parts.join('')
const BODY = 'aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0eF3hJ6'
const RSA = ['MIIEowIBAAKCAQEAu1SU1LfVLPHCozMxH2Mo4lgOEePzNm0tRgeL', 'ezV6ffAt0gunVTLw7onLRnrq0']

test.each([
  ['GitHub', join('gh', 'p_', BODY)],
  ['GitHub, fine-grained', join('github', '_pat_', BODY)],
  ['GitLab', join('glp', 'at-', BODY.slice(0, 20))],
  ['AWS', join('AK', 'IA', 'IOSFODNN7EXAMPLE')],
  ['Slack', join('xo', 'xb-', '1234567890-abcdefghij')],
  ['OpenAI', join('sk', '-proj-', BODY)],
  ['Anthropic', join('sk', '-ant-api03-', BODY)],
  ['Google', join('AI', 'za', BODY.slice(0, 35))],
  ['npm', join('np', 'm_', BODY)],
  ['Stripe', join('sk', '_live_', BODY.slice(0, 24))],
  ['Slack, app', join('xa', 'pp-', '1-A0123456789-abcdefghij')],
  ['Google, access', join('ya', '29.', BODY)],
  ['xAI', join('xa', 'i-', BODY)],
  ['Hugging Face', join('h', 'f_', BODY)],
  ['Groq', join('gs', 'k_', BODY)],
  ['PyPI', join('py', 'pi-', BODY, BODY)],
  ['DigitalOcean', join('do', 'p_v1_', '0123456789abcdef'.repeat(4))],
  ['SendGrid', join('S', 'G.', BODY.slice(0, 22), '.', BODY)],
  ['age', join('AGE-SECRET', '-KEY-1', BODY.toUpperCase())],
  ['JWT', join('ey', 'JhbGciOiJIUzI1NiJ9.', 'ey', 'JzdWIiOiIxMjM0In0.', 'dozjgNryP4J3jVmNHl0w')],
])('a key is masked by its shape: %s', (_, key) => {
  expect(maskSecrets(`use ${key}, then "${key}"\\n${key}`)).toEqual({
    text: `use ${M}, then "${M}"\\n${M}`,
    masked: 3,
  })
})

test.each([
  ['PASSWORD=correcthorse', `PASSWORD=${M}`],
  ['export DB_PASS=tr0ub4dor&3 && ls', `export DB_PASS=${M}&3 && ls`],
  ["MYSQL_PWD='hunter2hunter2'", `MYSQL_PWD='${M}'`],
  ['AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG', `AWS_SECRET_ACCESS_KEY=${M}`],
  ['SAVESTATE_KEY=0123456789abcdef0123', `SAVESTATE_KEY=${M}`],
  ['{"api_key": "abcdefgh", "n": 1}', `{"api_key": "${M}", "n": 1}`],
  [String.raw`{\"clientSecret\":\"abcdefgh\"}`, String.raw`{\"clientSecret\":\"${M}\"}`],
  ['  password: hunter2hunter2\n  user: me', `  password: ${M}\n  user: me`],
  [String.raw`{"password": "ab\"cd\\ef12"}`, `{"password": "${M}"}`],
  ["'password' => 'swordfish'", `'password' => '${M}'`],
  ['//registry.example/:_authToken=abcd1234efgh', `//registry.example/:_authToken=${M}`],
  ['login --password swordfish --user me', `login --password ${M} --user me`],
  ['login --api-key="abcdefgh"', `login --api-key="${M}"`],
  ['PASSPHRASE="correct horse battery staple"', `PASSPHRASE="${M}"`],
  ['db:\n  password: swordfish\n  port: 5432', `db:\n  password: ${M}\n  port: 5432`],
  ['POSTGRES_PASSWORD: mysecretpassword', `POSTGRES_PASSWORD: ${M}`],
  ['spring.password=correcthorse\n', `spring.password=${M}\n`],
  ['< Set-Cookie: sid=abcdefgh; Path=/\n<', `< Set-Cookie: ${M}\n<`],
  ['-H "Cookie: a=abcdefgh; b=1" x', `-H "Cookie: ${M}" x`],
  ['DB_PASSWORD=hunter2', `DB_PASSWORD=${M}`],
  ['{"password": "hunter2"}', `{"password": "${M}"}`],
  ["PASSWORD='ab cd ef'", `PASSWORD='${M}'`],
  ['PASSWORD=#hash1234', `PASSWORD=${M}`],
  ['SAVESTATE_KEY="0123456789abcdef0123"', `SAVESTATE_KEY="${M}"`],
  ['{"refresh_token":"abcdefghij"}', `{"refresh_token":"${M}"}`],
  ['curl -u admin:hunter2 https://x.example', `curl -u admin:${M} https://x.example`],
  ["curl --user 'me:correct-horse'", `curl --user 'me:${M}'`],
  ['postgres://app:s3cr3t@db/x', `postgres://app:${M}@db/x`],
  ['https://me:p@ss@example.com/x?y=1', `https://me:${M}@example.com/x?y=1`],
  ["curl -H 'Authorization: Bearer abcdefgh'", `curl -H 'Authorization: Bearer ${M}'`],
  ['"authorization": "Basic dXNlcjpwYXNz"', `"authorization": "Basic ${M}"`],
  ['x-api-key: abcd1234efgh', `x-api-key: ${M}`],
  ['https://x.example/?token=abcd1234&b=2', `https://x.example/?token=${M}&b=2`],
  ['machine example.com login me password swordfish', `machine example.com login me password ${M}`],
  [
    'machine a.example\n  login me\n  password x1\n',
    `machine a.example\n  login me\n  password ${M}\n`,
  ],
  ['default login me password pa55', `default login me password ${M}`],
  ['"machine a\\nlogin b\\npassword c\\n"', `"machine a\\nlogin b\\npassword ${M}\\n"`],
  ['mysql -u root -pswordfish shop', `mysql -u root -p${M} shop`],
  ['mysqldump -h db "-x" -p\'sword fish\' shop', `mysqldump -h db "-x" -p'${M}' shop`],
  ['mariadb -psw0rd', `mariadb -p${M}`],
  ["sshpass -p 'swordfish' ssh me@host", `sshpass -p '${M}' ssh me@host`],
  ['docker login -u me -p swordfish', `docker login -u me -p ${M}`],
  ['redis-cli -h cache -a swordfish ping', `redis-cli -h cache -a ${M} ping`],
  ['pg_dump --password=swordfish shop', `pg_dump --password=${M} shop`],
  ['Authorization: Bearer abcdefghijkl', `Authorization: Bearer ${M}`],
  ['clone https://0a1b2c3d4e5f6a7b8c9d@git.example/x', `clone https://${M}@git.example/x`],
  ['It is at https://bob:hunter2@example.com.', `It is at https://bob:${M}@example.com.`],
  ['The password is hunter2.', `The password is ${M}.`],
  ['the password for the admin is Tr0ub4dor&3!', `the password for the admin is ${M}`],
  ['my password is `swordfish`, thanks', `my password is \`${M}\`, thanks`],
  ['I set the password to correct#horse', `I set the password to ${M}`],
  ['Password: hunter2', `Password: ${M}`],
  ['PASSWORD: pa55', `PASSWORD: ${M}`],
  ['user: me\npassword: pa$$w0rd\n', `user: me\npassword: ${M}\n`],
  ['passcode is 482910', `passcode is ${M}`],
  ['The API key is 9f8e7d6c5b4a3f2e.', `The API key is ${M}.`],
  ['the token was "q1w2e3r4t5y6"', `the token was "${M}"`],
])('the value is masked and its name stays: %s', (text, expected) => {
  expect(maskSecrets(text)).toEqual({ text: expected, masked: 1 })
})

test.each(['\n', '\\n', '\r\n', '\n  '])('a private key is masked, with line breaks %j', (line) => {
  const begin = join('-----BEGIN RSA PRIV', 'ATE KEY-----')
  const end = join('-----END RSA PRIV', 'ATE KEY-----')
  const whole = ['a', begin, ...RSA, end, 'b'].join(line)
  expect(maskSecrets(whole)).toEqual({ text: `a${line}${begin}${M}${end}${line}b`, masked: 1 })
  const torn = ['a', begin, ...RSA].join(line)
  expect(maskSecrets(torn)).toEqual({ text: `a${line}${begin}${M}`, masked: 1 })
  const padded = ['a', begin, ...RSA, 'ab==', 'b'].join(line)
  expect(maskSecrets(padded)).toEqual({ text: `a${line}${begin}${M}${line}b`, masked: 1 })
})

test('a long value is masked to its end', () => {
  expect(maskSecrets(`TOKEN=${BODY.repeat(100)} rest`).text).toBe(`TOKEN=${M} rest`)
  expect(maskSecrets(`{"token":"${BODY.repeat(100)}"}`).text).toBe(`{"token":"${M}"}`)
})

const BEGIN = join('-----BEGIN PRIV', 'ATE KEY-----')

test.each([
  ['a key', '', join('sk', '-')],
  ['a web token', '', join('ey', 'JhbGciOiJIUzI1NiJ9.', 'ey', 'JzdWIiOiIxMjM0In0.')],
  ['a private key', BEGIN, '\n'],
  ['a private key of many lines', BEGIN, `${`\n${RSA[0]}`.repeat(300_000)}\n`],
  ['a header', 'Authorization: Bearer ', ''],
])('%s of 30 MB is masked', (_, kept, start) => {
  expect(maskSecrets(`${kept}${start}${'a1'.repeat(15_000_000)} rest`)).toEqual({
    text: `${kept}${M} rest`,
    masked: 1,
  })
})

test.each([
  'commit 3bcb0146f6a1c2d4e5b60718293a4b5c6d7e8f90',
  'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=',
  '01a1e0a2-57a6-7fe0-88e9-9537f6af4e3d blmnflvcx3k2',
  'export function readToken(token: CancellationToken, password?: string): string {',
  'const token = getToken2Now(password); secret = sha256sum(value)',
  'if (token === "identifier" || token == \'punctuation\') next(token)',
  "{ token: 'keyword.operator', regex: /x/ }",
  'max_tokens: 16000000, "tokenCount": 12345678, token: 104857600',
  'apiKey: process.env.API_KEY, password: config.database.password1',
  'PASSWORD=$DB_PASSWORD TOKEN=${TOKEN:-none} API_KEY=<your-key> SECRET=********',
  'PWD=/home/user/project OLDPWD=/home/user',
  'password: "Choose a password with 8 characters"',
  'usage: login --password PASSWORD --token <token>',
  'https://example.com:8080/a@b git@github.com:me/repo.git ssh://git@host:22/x',
  'primary_key: users_2024_archive, FOREIGN_KEY=orders',
  '<div class="sk-fading-circle-animation task-sk-learning-materials">',
  'docker run -u 1000:1000 -u node:node --user www-data:www-data -u postgres:wheel x',
  'PASSWORD=true "password": null, "password": "none", {"pwd": "abc"}',
  'password: string\n  password: hashedPassword\n  password=password\n password: required\n',
  'Cookie: a small cake; cookies: chocolate=good',
  "{ currentToken: 'punctuation' }",
  'secret: Uint8Array, bypass: something1234, compass=northeast12',
  'The password is required. The password is not set, the password was wrong!',
  'A password is required!\nThe password is bcrypt-hashed; the password is sha256-hashed.',
  'the password is at least 8 characters, 12chars or 30 days old',
  'The password is "required" and `hashed`; the password is `user.password`.',
  'The token is expired. The token is base64-encoded. the token is user-2-session',
  'password: string; password: T1, password: config.password1; passwords: many2some',
  'the default password manager, the default login form has a password field',
  'the machine has a login and a password, machine learning login pages',
  'mysql -u root -p shop; mysql --protocol=tcp -P 3306; mysql -p$PASS x; mysql -p"$PASS"',
  'mkdir -p src/mysql && cp -pr mysql/data out; ps -p 1234',
  'The secret is out: the secret is that the key is on line 12.',
  'password: see https://example.com/help-2024; the password is in ~/.secrets/1',
  'The password is not me@example.com. The password is getPass2(user). Its secret is makeToken2024(x)',
])('ordinary text stays: %s', (text) => {
  expect(maskSecrets(text)).toEqual({ text, masked: 0 })
})

test('pages of ordinary code stay', () => {
  const files = ['src/agents/conversation/truncate-conversation.ts', 'src/base/shape-record.ts']
  for (const file of [...files, 'docs/internals/design.md', 'package.json']) {
    const text = readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8')
    expect(maskSecrets(text)).toEqual({ text, masked: 0 })
  }
})

/** Each is repeated: starts without ends, ends without starts, and names whose values are refused at their end. */
const HOSTILE = [
  'token=',
  'token=a1(',
  'password="',
  '"password": \'',
  '--password ',
  'secret_',
  'eyJ',
  'eyJaaaaaaaa.',
  '://a:',
  '://a:b@',
  'sk-',
  'authorization: bearer ',
  'cookie: a=b',
  'cookie: a=\n',
  '-u a:',
  'mysql ',
  'mysql -p',
  'machine ',
  'machine a login ',
  'password is ',
  'password is .',
  'password for a ',
  'token is "',
  '-u a:bcde1 ',
  'PASSWORD=" ',
  join('-----BEGIN PRIV', 'ATE KEY-----'),
  join('-----END PRIV', 'ATE KEY-----'),
  join('-----BEGIN PRIV', 'ATE KEY-----\n', RSA[0] ?? '', '('),
  '\\n',
  '--',
  '\u0000',
  '\ud800',
]

const repeat = (unit: string, chars: number) => unit.repeat(Math.ceil(chars / unit.length))

test('hostile text takes time in proportion to its length', () => {
  const timeMs = (unit: string, chars: number) => {
    const text = repeat(unit, chars)
    const start = performance.now()
    maskSecrets(text)
    return performance.now() - start
  }
  const slow = HOSTILE.filter((unit) => {
    // Linear time makes it 10 times as long, quadratic time 100 times. Other processes run too: several attempts, and a
    // lower limit far above what the short text takes.
    const isSlow = () => timeMs(unit, 1_000_000) > 30 * Math.max(timeMs(unit, 100_000), 100)
    return isSlow() && isSlow() && isSlow()
  })
  expect(slow).toEqual([])
})

test('5 MB of hostile text are masked', () => {
  const text = HOSTILE.map((unit) => repeat(unit, 5_000_000 / HOSTILE.length)).join('\n')
  expect(maskSecrets(`PASSWORD=hunter2hunter2\n${text}\nPASSWORD=hunter2hunter2`).text).toMatch(
    /^PASSWORD=••••••\n[^]*\nPASSWORD=••••••$/,
  )
})
