// V8's compiled form of a script in a file: a sum over the script and the form, and the form. V8 takes a form of another
// text that is as long, and Node 20 one that is damaged, which can crash it; the sum sees both.
import { closeSync, existsSync, fstatSync, openSync, readSync } from 'node:fs'
import { Module } from 'node:module'
import { SUM_STEP, type SummedMemory, summedMemory } from './summed-memory.js'

const SUM_BYTES = 8
const HERE = '\0'

/** As the build names it: another Node has another, or none, and compiles for itself. */
export function compiledName(form: string): string {
  return `${form}.${process.version}-${process.platform}-${process.arch}.compiled`
}

type Form = { readonly script: string; readonly cachedData: Buffer }

/** Undefined if there is none, or it was not made of exactly this source. The source is plain ASCII. */
export function readForm(sourceFile: string, formFile: string): Form | undefined {
  if (!existsSync(formFile)) return undefined
  const [source, form] = [openSync(sourceFile, 'r'), openSync(formFile, 'r')]
  try {
    const [sourceBytes, formBytes] = [fstatSync(source).size, fstatSync(form).size]
    const lengths = { source: sourceBytes, data: formBytes - SUM_BYTES }
    const sheet = lengths.data < 0 ? undefined : newSheet(lengths)
    if (sheet === undefined) return undefined
    const { bytes, at } = sheet
    readSync(source, bytes, at.source, sourceBytes, 0)
    readSync(form, bytes, at.sum, formBytes, 0)
    const sum = bytes.readBigUInt64LE(at.sum)
    if (sumOf(sheet) !== sum) return undefined
    return {
      script: bytes.latin1Slice(0, at.scriptEnd),
      cachedData: bytes.subarray(at.data, at.data + lengths.data),
    }
  } finally {
    closeSync(source)
    closeSync(form)
  }
}

/** For the build. */
export function encodeForm(source: string, cachedData: Buffer): Buffer {
  const sheet = newSheet({ source: source.length, data: cachedData.length })
  if (sheet === undefined) throw new Error('This Node has no WebAssembly')
  const { bytes, at } = sheet
  bytes.write(source, at.source, 'latin1')
  cachedData.copy(bytes, at.data)
  bytes.writeBigUInt64LE(sumOf(sheet), at.sum)
  return Buffer.from(bytes.subarray(at.sum, at.data + cachedData.length))
}

/** The script as Node wraps it, and behind it the form, where V8 can use it without a copy. */
type Sheet = SummedMemory & { readonly at: Places; readonly seed: bigint }
type Places = {
  readonly source: number
  readonly scriptEnd: number
  readonly sum: number
  readonly data: number
  readonly end: number
}

function newSheet(lengths: { readonly source: number; readonly data: number }): Sheet | undefined {
  const [head = '', tail = ''] = Module.wrap(HERE).split(HERE)
  const sourceEnd = head.length + lengths.source
  const scriptEnd = sourceEnd + tail.length
  const data = wholeSteps(scriptEnd + SUM_BYTES)
  const end = wholeSteps(data + lengths.data)
  const memory = summedMemory(end)
  if (memory === undefined) return undefined
  memory.bytes.write(head, 0, 'latin1')
  memory.bytes.write(tail, sourceEnd, 'latin1')
  return {
    ...memory,
    at: { source: head.length, scriptEnd, sum: data - SUM_BYTES, data, end },
    seed: (BigInt(scriptEnd) << 32n) | BigInt(lengths.data),
  }
}

/** The place of the sum counts as empty. */
function sumOf({ bytes, sum, at, seed }: Sheet): bigint {
  bytes.fill(0, at.sum, at.data)
  return sum(at.end, seed)
}

function wholeSteps(bytes: number): number {
  return Math.ceil(bytes / SUM_STEP) * SUM_STEP
}
