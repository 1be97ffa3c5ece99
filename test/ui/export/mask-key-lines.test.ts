import { expect, test } from 'vitest'
import { maskKeyLines } from '../../../src/ui/export/mask-key-lines.js'

const [BEGIN, END] = ['BEGIN', 'END'].map((word) => `-----${word} RSA PRIVATE KEY-----`)
const [ONE, TWO] = ['MIIEpAIBAAKCAQEA7v2Qd8sK3m', 'q9Xw3Zr7Kd5Lm1Np8Vt2Bs6Yc4']

function masked(lines: readonly string[]): readonly string[] {
  const hunk = { oldStart: 1, oldLines: 0, newStart: 1, newLines: lines.length, heading: '', lines }
  const [only] = maskKeyLines({
    path: 'key.pem',
    mark: '',
    kind: 'text',
    sizeBefore: null,
    sizeAfter: 1,
    modeBefore: null,
    modeAfter: '100644',
    insertions: lines.length,
    deletions: 0,
    hunks: [hunk],
  }).hunks
  return only?.lines ?? []
}

test.each<[string, readonly string[], readonly string[]]>([
  [
    'a whole key, with a header',
    [`+${BEGIN}`, '+Proc-Type: 4,ENCRYPTED', '+', `+${ONE}`, '+ab==', `+${END}`, '+after'],
    [`+${BEGIN}`, '+••••••', '+••••••', '+••••••', '+••••••', `+${END}`, '+after'],
  ],
  [
    'a changed key',
    [` ${BEGIN}`, `-${ONE}`, `+${TWO}`, ` ${END}`],
    [` ${BEGIN}`, '-••••••', '+••••••', ` ${END}`],
  ],
  ['a key that ends below', [`+${BEGIN}`, `+${ONE}`], [`+${BEGIN}`, '+••••••']],
  [
    'a key that begins above',
    ['+a line', ` ${TWO}`, '-ab==', ` ${END}`],
    ['+a line', ' ••••••', '-••••••', ` ${END}`],
  ],
  [
    'only the words, in code',
    [`+const begin = '${BEGIN}'`, '+const end = 1'],
    [`+const begin = '${BEGIN}'`, '+const end = 1'],
  ],
])('lines of a private key are masked: %s', (_what, lines, expected) => {
  expect(masked(lines)).toEqual(expected)
})
