// Decides whether a capture enters a folder, by the rules of a scan, but for one path and without scanning the rest.
import { existsSync } from 'node:fs'
import { type BytePath, fsPath, joinPath, nameOf, ROOT } from '../../../model/index.js'
import { FolderNode } from '../stat-cache/node.js'
import { type Context, Selection } from './selection.js'
import { absolute, type CaptureTarget } from '../capture-target.js'

/**
 * The outermost folder on the way to `path` that a capture excludes with its contents; undefined if it enters `path`, or
 * would enter it for files that git tracks. Paths are relative to the project and need not exist.
 */
export function excludedFolder(
  given: Omit<CaptureTarget, 'ignoreCase'>,
  path: BytePath,
): BytePath | undefined {
  const target = { ...given, ignoreCase: process.platform === 'darwin' }
  const selection = new Selection(target, undefined)
  const enter = (folder: BytePath, context: Context) => {
    const at = { path: folder, absolute: absolute(target, folder) }
    const has = (name: string) => existsSync(fsPath(`${at.absolute}/${name}`))
    return selection.enter(new FolderNode(nameOf(folder), { viaIndex: false }), at, {
      context,
      has,
    })
  }
  let context = enter(ROOT, selection.outermost())
  let folder: BytePath = ROOT
  for (const name of path.split('/').filter((each) => each !== '')) {
    folder = joinPath(folder, name)
    const item = { path: folder, absolute: absolute(target, folder), name: name as BytePath }
    const choice = selection.choose({ ...item, type: 'folder' }, context)
    if ('skip' in choice) return folder
    context = enter(folder, { ...context, onlyTracked: context.onlyTracked || choice.viaIndex })
  }
  return undefined
}
