import { describe, expect, test } from 'vitest'
import { secretIn } from '../../../../src/snapshot/capture/scan/secret-content.js'

const judge = (content: string | Buffer, path = 'a.txt') =>
  secretIn(path, Buffer.isBuffer(content) ? content : Buffer.from(content))

const block = (title: string) => `-----BEGIN ${title}-----\nAAAA\n-----END ${title}-----\n`

describe('a private key', () => {
  const keys: Readonly<Record<string, string>> = {
    rsa: block('RSA PRIVATE KEY'),
    'pkcs 8': block('PRIVATE KEY'),
    encrypted: block('ENCRYPTED PRIVATE KEY'),
    ec: block('EC PRIVATE KEY'),
    dsa: block('DSA PRIVATE KEY'),
    openssh: block('OPENSSH PRIVATE KEY'),
    pgp: block('PGP PRIVATE KEY BLOCK'),
    ssh2: '---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----\nAAAA\n',
    age: '# created: 2026-01-01T00:00:00Z\n# public key: age1xyz\nAGE-SECRET-KEY-1ABC\n',
    'age alone': 'AGE-SECRET-KEY-1ABC\n',
    putty: 'PuTTY-User-Key-File-3: ssh-ed25519\nEncryption: none\n',
    'after parameters': `${block('EC PARAMETERS')}${block('EC PRIVATE KEY')}`,
    'after a certificate': `${block('CERTIFICATE')}\n${block('RSA PRIVATE KEY')}`,
    'from a keystore': `Bag Attributes\n    friendlyName: x\n${block('PRIVATE KEY')}`,
    'after blank lines': `\r\n\n  \t\n${block('RSA PRIVATE KEY')}`,
    'after a byte order mark': `\ufeff${block('RSA PRIVATE KEY')}`,
    'after comments': `# mine\r\n\r\n# do not share\r\n${block('RSA PRIVATE KEY')}`,
    'with DOS ends of lines': block('RSA PRIVATE KEY').replaceAll('\n', '\r\n'),
    'service account':
      '{\n  "type": "service_account",\n  "private_key": "-----BEGIN PRIVATE KEY-----\\nAA"}',
  }
  for (const [kind, content] of Object.entries(keys)) {
    test(`is detected: ${kind}`, () => expect(judge(content)).toBe('key'))
  }
})

describe('other content', () => {
  const others: Readonly<Record<string, string | Buffer>> = {
    nothing: '',
    'blanks only': ' \n'.repeat(10_000),
    'a certificate': block('CERTIFICATE'),
    'a public key': block('PUBLIC KEY'),
    'a public key of PGP': block('PGP PUBLIC KEY BLOCK'),
    'a key in the middle of source': `const key = \`\n${block('RSA PRIVATE KEY')}\`\n`,
    'a key in a comment of source': `/*\n${block('RSA PRIVATE KEY')}*/\n`,
    'a key in a document': `# Keys\n\nThey look like this:\n\n${block('RSA PRIVATE KEY')}`,
    'a key in a line of shell': `#!/bin/sh\ncat <<E\n${block('RSA PRIVATE KEY')}E\n`,
    'JSON with a key that is none': '{"private_key": "path/to/it"}',
    'a patch': '--- a/key.pem\n+++ b/key.pem\n-----BEGIN RSA\n',
    'front matter': '---\ntitle: PRIVATE KEY\n---\n',
    'bytes that are no text': Buffer.from([0x2d, 0x2d, 0, 0xff, 0x2d]),
    'comments without end': '#'.repeat(100_000),
  }
  for (const [kind, content] of Object.entries(others)) {
    test(`is not a private key: ${kind}`, () => expect(judge(content)).toBeUndefined())
  }
})

test('a .pem that is not clearly public is doubtful, one with a private key is a key', () => {
  expect(judge('what is this?', 'sub/server.pem')).toBe('doubtful')
  expect(judge('', 'empty.PEM')).toBe('doubtful')
  expect(judge(`subject=/CN=x\n${block('RSA PRIVATE KEY')}`, 'server.pem')).toBe('doubtful')
  expect(judge(block('RSA PRIVATE KEY'), 'server.pem')).toBe('key')
  expect(judge(block('CERTIFICATE'), 'ca.pem')).toBeUndefined()
  expect(judge(`subject=/CN=x\n${block('CERTIFICATE')}`, 'ca.pem')).toBeUndefined()
  expect(judge('what is this?', 'server.pem.txt')).toBeUndefined()
})
