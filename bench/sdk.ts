/** The built SDK and command line, from dist/, as a user's program would run them. */
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type { SavestateSaver } from '../src/langgraph/saver.js'
import type { Store, StoreOptions } from '../src/index.js'

export type { Project, Session, Store } from '../src/index.js'

/** The bundle is build/bench/main.js, two folders below the project. */
const projectRoot = fileURLToPath(new URL('../../', import.meta.url))

export const programPath = fileURLToPath(import.meta.url)
export const cliPath = join(projectRoot, 'dist', 'cli', 'bin.js')

export async function openStore(
  home: string,
  options: Pick<StoreOptions, 'durability' | 'clock' | 'remote'> = {},
): Promise<Store> {
  const built = pathToFileURL(join(projectRoot, 'dist', 'index.js')).href
  const sdk: typeof import('../src/index.js') = await import(built)
  return sdk.openStore({ home, ...options })
}

export async function openSaver(
  home: string,
  options: Pick<StoreOptions, 'remote'> = {},
): Promise<SavestateSaver> {
  const built = pathToFileURL(join(projectRoot, 'dist', 'langgraph.js')).href
  const langgraph: typeof import('../src/langgraph/saver.js') = await import(built)
  return langgraph.SavestateSaver.open({ home, ...options })
}
