import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Line, formatLine, lineReader } from '../../src/daemon/json-lines.js'

test('the lines do not depend on how the text is split', () => {
  const line = fc.dictionary(fc.string(), fc.jsonValue())
  fc.assert(
    fc.property(fc.array(line), fc.array(fc.nat(40)), (lines, cuts) => {
      // Through JSON, which drops undefined values.
      const expected = lines.map((one): unknown => JSON.parse(JSON.stringify(one)))
      const text = lines.map(formatLine).join('')
      const read: Line[] = []
      const reader = lineReader(1 << 20, {
        line: (one) => read.push(one),
        fault: () => expect.unreachable(),
      })
      let at = 0
      for (const cut of cuts) {
        reader(text.slice(at, at + cut))
        at += cut
      }
      reader(text.slice(at))
      expect(read).toEqual(expected)
    }),
  )
})

test.each(['[]\n', 'null\n', '\n', 'GET / HTTP/1.1\r\n', '{"a":\n', 'x'.repeat(101)])(
  '%j is reported as a fault once, and nothing after it is read',
  (text) => {
    let faults = 0
    const reader = lineReader(100, {
      line: () => expect.unreachable(),
      fault: () => (faults += 1),
    })
    reader(`${text}{"go":true}\n`)
    reader('{"go":true}\n')
    reader('[]\n')
    expect(faults).toBe(1)
  },
)
