// The files of the page. The list is read once at the start, so no request can name another file.
import { existsSync, readdirSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import { extname, join } from 'node:path'
import { SavestateError } from '../../internal.js'
import { accepts, type Answer } from './answer.js'

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.wasm': 'application/wasm',
}
const INDEX = '/index.html'
const ASSETS = '/assets/'
const PACKED = '.br'

export class StaticFiles {
  readonly #folder: string
  readonly #names: ReadonlySet<string>
  readonly #contents = new Map<string, Promise<Buffer>>()

  constructor(folder: string) {
    this.#folder = folder
    if (!existsSync(join(folder, 'index.html')))
      throw new SavestateError('FILE_FAILED', `The files of the page are missing in ${folder}`, {
        hint: 'Install Savestate again.',
      })
    const assets = readdirSync(join(folder, 'assets')).map((name) => ASSETS + name)
    this.#names = new Set([INDEX, INDEX + PACKED, ...assets])
  }

  /** Every path but those of assets shows the page, which reads its own address. Undefined if there is no such file. */
  async answer(request: IncomingMessage, path: string): Promise<Answer | undefined> {
    const name = path.startsWith(ASSETS) ? path : INDEX
    const type = TYPES[extname(name)]
    if (type === undefined || !this.#names.has(name)) return undefined
    const isPacked = this.#names.has(name + PACKED) && accepts(request, 'br')
    return {
      status: 200,
      headers: {
        'Content-Type': type,
        // The name of an asset contains a hash of its content.
        'Cache-Control': name === INDEX ? 'no-store' : 'max-age=31536000, immutable',
        Vary: 'Accept-Encoding',
        ...(isPacked ? { 'Content-Encoding': 'br' } : {}),
      },
      body: await this.#read(isPacked ? name + PACKED : name),
    }
  }

  #read(name: string): Promise<Buffer> {
    const known = this.#contents.get(name) ?? readFile(join(this.#folder, name))
    this.#contents.set(name, known)
    return known
  }
}
