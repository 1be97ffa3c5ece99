// The answers of an exported page, with every text masked, up to a size.
import { maskSecrets } from '../../base/index.js'
import { SavestateError } from '../../internal.js'
import type { Input, Method, Output } from '../api.js'
import { findMethod, type PageContext } from '../methods/index.js'
import { type ExportedData, exportKey } from './export-key.js'

export class Answers {
  bytes = 0
  /** How many answers had no space, besides items and patches. */
  missing = 0
  readonly #json = new Map<string, string>()

  constructor(
    private readonly context: PageContext,
    private readonly maxBytes: number,
  ) {}

  get isFull(): boolean {
    return this.bytes >= this.maxBytes
  }

  async read<Name extends Method>(name: Name, input: Input<Name>): Promise<Output<Name>> {
    const answer = await findMethod(name)?.call(input, async () => this.context)
    // As the browser would get it: dates are text.
    return JSON.parse(JSON.stringify(answer)) as Output<Name>
  }

  /** Undefined if the method fails, as for a damaged checkpoint. The page then shows the error. */
  async tryRead<Name extends Method>(
    name: Name,
    input: Input<Name>,
  ): Promise<Output<Name> | undefined> {
    try {
      return await this.read(name, input)
    } catch (error) {
      if (!(error instanceof SavestateError)) throw error
      const { code, message, hint } = error
      this.#put(maskedKey(name, input), maskedJson({ error: { code, message, hint } }))
      return undefined
    }
  }

  /** False if there is no space for it. */
  add<Name extends Method>(
    name: Name,
    input: Input<Name>,
    answer: Output<Name>,
    maxBytes = Infinity,
  ): boolean {
    const json = maskedJson(answer)
    const isAdded = Buffer.byteLength(json) <= maxBytes && this.#put(maskedKey(name, input), json)
    if (!isAdded && name !== 'items' && name !== 'patch') this.missing += 1
    return isAdded
  }

  /** As base64, for the page to show. An image has no text to mask. */
  async addFile(of: {
    readonly project: string
    readonly ref: string
    readonly path: string
  }): Promise<boolean> {
    const key = maskedKey('file', of)
    if (this.#json.has(key)) return true
    if (this.isFull) return false
    try {
      const { content } = await (await this.context.project(of.project)).file(of.ref, of.path)
      return this.#put(key, JSON.stringify(Buffer.from(content).toString('base64')))
    } catch (error) {
      // A damaged checkpoint.
      if (error instanceof SavestateError) return false
      throw error
    }
  }

  #put(key: string, json: string): boolean {
    const size = Buffer.byteLength(json) + Buffer.byteLength(key)
    if (this.bytes + size > this.maxBytes) return false
    this.bytes += size
    this.#json.set(key, json)
    return true
  }

  toJson(rest: Omit<ExportedData, 'answers'>): string {
    const answers = [...this.#json].map(([key, json]) => `${escape(JSON.stringify(key))}:${json}`)
    const open = escape(JSON.stringify(rest)).slice(0, -1)
    return `${open},"answers":{${answers.join(',')}}}`
  }
}

/** The page asks with the texts that it got, which are masked. */
function maskedKey(name: Method | 'file', input: Readonly<Record<string, unknown>>): string {
  return exportKey(name, JSON.parse(JSON.stringify(input, maskText)) as typeof input)
}

function maskedJson(value: unknown): string {
  return escape(JSON.stringify(value, maskText))
}

function maskText(_name: string, value: unknown): unknown {
  return typeof value === 'string' ? maskSecrets(value).text : value
}

/** A `<` could end the element that contains the data. In JSON it is only in texts. */
function escape(json: string): string {
  return json.replaceAll('<', String.raw`\u003c`)
}
