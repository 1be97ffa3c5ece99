// The files of a checkpoint as they were: a tree on the left, the selected file on the right.
import type { VNode } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { Output } from '../../../src/ui/api.js'
import { project } from '../../app/model.js'
import { addressOf, checkpointPath, navigate, route } from '../../app/router.js'
import { call, RequestError } from '../../app/transport.js'
import { ErrorMessage, Loading } from '../../components/states.js'
import { formatBytes, Line } from '../../components/text.js'
import { REASONS } from './details.js'
import { FileViewer } from './file-viewer.js'
import { foldersAbove, type Node, parentPath, visibleNodes } from './tree.js'

type Listings = ReadonlyMap<string, Output<'folder'>>

export function FilesTab(props: {
  readonly of: string
  readonly onState: (state: string) => void
}): VNode {
  const { of: id, onState } = props
  const file = route.value.query.get('file') ?? undefined
  const select = (path: string) =>
    navigate(addressOf(checkpointPath(id), { tab: 'files', file: path }), { replace: true })
  return (
    <div class="changes">
      <aside class="changes-files" aria-label="Files of the checkpoint">
        <Tree id={id} file={file} onSelect={select} onState={onState} />
      </aside>
      {file === undefined ? (
        <p class="state-message">Select a file to see it as it was.</p>
      ) : (
        <FileViewer id={id} path={file} />
      )}
    </div>
  )
}

function Tree(props: {
  readonly id: string
  readonly file: string | undefined
  readonly onSelect: (path: string) => void
  readonly onState: (state: string) => void
}): VNode {
  const { id, file, onSelect, onState } = props
  const { listings, open, problem, toggle } = useFolders(id, file)
  const state = problem !== undefined ? 'error' : listings.has('') ? 'ready' : 'loading'
  useEffect(() => onState(state), [state])
  const [focused, setFocused] = useState(file ?? '')
  const list = useRef<HTMLDivElement>(null)
  const nodes = visibleNodes(listings, open)
  const at = Math.max(
    0,
    nodes.findIndex(({ path }) => path === focused),
  )
  if (problem !== undefined) return <ErrorMessage error={problem} />
  if (!listings.has('')) return <Loading what="the files" />
  const focusNode = (node: Node | undefined) => {
    if (node === undefined) return
    setFocused(node.path)
    list.current?.querySelector<HTMLElement>(`[data-path="${CSS.escape(node.path)}"]`)?.focus()
  }
  const act = (node: Node) => {
    setFocused(node.path)
    if (node.type === 'folder') toggle(node.path)
    else if (node.type !== 'skipped') onSelect(node.path)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const node = nodes[at]
    if (node === undefined) return
    const run = treeKeys({ nodes, at, act, focusNode })[event.key]
    if (run === undefined) return
    event.preventDefault()
    event.stopPropagation()
    run(node)
  }
  return (
    <div class="tree" role="tree" aria-label="Files" ref={list} onKeyDown={onKeyDown}>
      {nodes.map((node, index) => (
        <div
          key={`${node.type} ${node.path}`}
          role="treeitem"
          class="tree-node"
          data-path={node.path}
          data-type={node.type}
          aria-level={node.level}
          aria-expanded={node.type === 'folder' ? node.isOpen : undefined}
          aria-selected={node.path === file}
          aria-disabled={node.type === 'skipped' ? true : undefined}
          tabIndex={index === at ? 0 : -1}
          style={{ '--level': node.level }}
          onClick={() => act(node)}
        >
          <span class="tree-mark" aria-hidden="true">
            {node.type === 'folder' ? (node.isOpen ? '▾' : '▸') : ''}
          </span>
          <span class="tree-name">
            <Line text={node.name} />
            {node.type === 'link' ? ' (link)' : ''}
          </span>
          <span class="muted">
            {node.reason === undefined ? '' : `left out: ${REASONS[node.reason]}`}
            {node.sizeBytes === null || node.reason !== undefined
              ? ''
              : formatBytes(node.sizeBytes)}
          </span>
        </div>
      ))}
      {nodes.length === 0 ? <p class="muted">This checkpoint has no files.</p> : null}
    </div>
  )
}

/** As in the tree pattern of WAI-ARIA. */
function treeKeys(of: {
  readonly nodes: readonly Node[]
  readonly at: number
  readonly act: (node: Node) => void
  readonly focusNode: (node: Node | undefined) => void
}): Readonly<Record<string, (node: Node) => void>> {
  const { nodes, at, act, focusNode } = of
  return {
    ArrowDown: () => focusNode(nodes[at + 1]),
    ArrowUp: () => focusNode(nodes[at - 1]),
    Home: () => focusNode(nodes[0]),
    End: () => focusNode(nodes.at(-1)),
    Enter: act,
    ' ': act,
    ArrowRight: (node) => {
      if (node.type !== 'folder') return
      if (node.isOpen) focusNode(nodes[at + 1])
      else act(node)
    },
    ArrowLeft: (node) => {
      if (node.isOpen) act(node)
      else focusNode(nodes.find(({ path }) => path === parentPath(node.path)))
    },
  }
}

function useFolders(id: string, file: string | undefined) {
  const [listings, setListings] = useState<Listings>(new Map())
  const [open, setOpen] = useState<ReadonlySet<string>>(() => new Set(foldersAbove(file ?? '')))
  const [problem, setProblem] = useState<RequestError | undefined>(undefined)
  const load = async (path: string) => {
    try {
      const listing = await call('folder', { project: project.peek(), ref: id, path })
      setListings((old) => new Map(old).set(path, listing))
    } catch (error) {
      if (!(error instanceof RequestError)) throw error
      if (path === '') setProblem(error)
      // A folder of the address that the checkpoint does not have stays closed.
      else if (!foldersAbove(file ?? '').includes(path)) throw error
    }
  }
  useEffect(() => {
    for (const path of ['', ...foldersAbove(file ?? '')]) void load(path)
  }, [id])
  const toggle = (path: string) => {
    const isOpen = open.has(path)
    setOpen(new Set(isOpen ? [...open].filter((one) => one !== path) : [...open, path]))
    if (!isOpen && !listings.has(path)) void load(path)
  }
  return { listings, open, problem, toggle }
}
