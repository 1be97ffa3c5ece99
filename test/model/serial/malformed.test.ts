// Text that is damaged or was edited: refused, never guessed, never a crash.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { tries } from '../../support/test-budget.js'
import { SavestateError } from '../../../src/model/errors.js'
import { decodeValue } from '../../../src/model/serial/decode.js'
import { encodeValue } from '../../../src/model/serial/encode.js'
import { ClassRegistry } from '../../../src/model/serial/registry.js'

class Box {
  constructor(readonly content: unknown) {}
}
const classes = new ClassRegistry()
classes.register('Box', { type: Box, toValue: (box) => box.content, fromValue: (v) => new Box(v) })

function codeOf(text: string): unknown {
  try {
    decodeValue(text, { classes })
    return 'read'
  } catch (error) {
    return error instanceof SavestateError ? error.code : error
  }
}

const MALFORMED = [
  '',
  '{',
  'undefined',
  '[1,]',
  '\u0000',
  '{"$":1}',
  '{"$":null}',
  '{"$":[]}',
  '{"$":[1]}',
  '{"$":{}}',
  '{"$":"NaN","a":1}',
  '{"$":["BigInt"]}',
  '{"$":["BigInt",5]}',
  '{"$":["BigInt",""]}',
  '{"$":["BigInt","0x1"]}',
  '{"$":["Date"]}',
  '{"$":["Date","2020"]}',
  '{"$":["URL"]}',
  '{"$":["URL","not one"]}',
  '{"$":["RegExp","a"]}',
  '{"$":["RegExp","a","g"]}',
  '{"$":["RegExp","(","",0]}',
  '{"$":["RegExp","a","?",0]}',
  '{"$":["Buffer"]}',
  '{"$":["Buffer",[1]]}',
  '{"$":["Buffer","A"]}',
  '{"$":["Buffer","AA=A"]}',
  '{"$":["Buffer","A!=="]}',
  '{"$":["Float64Array","AAEC"]}',
  '{"$":["Map",1]}',
  '{"$":["Map",1,2,3]}',
  '{"$":["Array"]}',
  '{"$":["Array",-1]}',
  '{"$":["Array",1.5]}',
  '{"$":["Array",4294967296]}',
  '{"$":["Array",2,2,1]}',
  '{"$":["Array",2,0]}',
  '{"$":["Array",2,"0",1]}',
  '{"$":["Array",2,"__proto__",1]}',
  '{"$":["Error"]}',
  '{"$":["Error","Tool",0]}',
  '{"$":["Error","Error"]}',
  '{"$":["Error","Error",0,"a"]}',
  '{"$":["Error","Error",0,1,1]}',
  '{"$":["Error","toString",0]}',
  '{"$":["Object"]}',
  '{"$":["Object",[1]]}',
  '{"$":["Bare",1]}',
  '{"$":["Bare",[]]}',
  '{"$":["Bare",null]}',
  '{"$":["Class"]}',
  '{"$":["Class","Box"]}',
  '{"$":["Class","Box",1,2]}',
  '{"$":["Class",1,2]}',
  '{"$":["Def",0,{"$":["Class","Box",{"$":["Ref",0]}]}]}',
  '{"$":["Ref",0]}',
  '{"$":["Ref"]}',
  '{"$":["Ref","0"]}',
  '[{"$":["Ref",1]},{"$":["Def",1,{}]}]',
  '{"$":["Def",0,1]}',
  '{"$":["Def",0]}',
  '{"$":["Def","a",{}]}',
  '{"$":["Def",0,{"$":["Ref",0]}]}',
  '{"$":["Def",0,{"$":["Def",1,{}]}]}',
]

test('malformed text is refused with a code', () => {
  expect(MALFORMED.filter((text) => codeOf(text) !== 'STATE_UNREADABLE')).toEqual([])
})

test('malformed text is refused at any depth', () => {
  const inside = MALFORMED.map((text) => `{"a":[{"$":["Map","k",${text}]}]}`)
  expect(inside.filter((text) => codeOf(text) !== 'STATE_UNREADABLE')).toEqual([])
})

test('a text with any piece changed is decoded or refused, and nothing else happens', () => {
  const cycle: Record<string, unknown> = {
    error: Object.assign(new AggregateError([new Box(1n)], 'a'), { stack: '' }),
    map: new Map<unknown, unknown>([
      [new Date(1), /a/g],
      [Buffer.from('a'), undefined],
    ]),
    $: Object.assign([], { 1: -0 }),
  }
  cycle['set'] = new Set([cycle, cycle['map'], Object.create(null)])
  const { text } = encodeValue(cycle, { classes })
  const pieces = text.match(/"(?:[^"\\]|\\.)*"|-?\d+|[^"\d]/g) ?? []
  const piece = fc.constantFrom(...new Set(pieces), '', '1e999', '"__proto__"', '"Bare"')
  fc.assert(
    fc.property(fc.nat(pieces.length - 1), piece, fc.nat(2), (place, other, removed) => {
      const changed = pieces.toSpliced(place, removed, other).join('')
      expect(['read', 'STATE_UNREADABLE']).toContain(codeOf(changed))
    }),
    { numRuns: tries(5000), seed: 1 },
  )
})
