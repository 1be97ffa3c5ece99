// Records which configurations have HTTP hooks. The daemon opens its TCP port only if there is one.
import type { Store } from '../../index.js'

const KEY = 'install-http'

export async function usesHttp(store: Store): Promise<boolean> {
  return pathsIn(await store.note(KEY)).length > 0
}

export async function recordHttp(
  store: Store,
  { path, isUsed }: { readonly path: string; readonly isUsed: boolean },
): Promise<void> {
  if (pathsIn(await store.note(KEY)).includes(path) === isUsed) return
  await store.changeNote({
    key: KEY,
    change(before) {
      const others = pathsIn(before).filter((known) => known !== path)
      const all = isUsed ? [...others, path] : others
      return all.length === 0 ? undefined : JSON.stringify(all)
    },
  })
}

function pathsIn(text: string | undefined): readonly string[] {
  const list: unknown = text === undefined ? [] : JSON.parse(text)
  return Array.isArray(list) ? list.filter((item) => typeof item === 'string') : []
}
