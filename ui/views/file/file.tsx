// All versions of a file or folder: /files?path=&at=. Files that were deleted have a history too.
import type { VNode } from 'preact'
import { openRestore } from '../../app/dialogs.js'
import { project, start } from '../../app/model.js'
import { addressOf, checkpointPath, followLink, navigate, route } from '../../app/router.js'
import { DateAndTime, promptOf, titleOf } from '../../components/checkpoint-summary.js'
import { DownloadButton } from '../../components/diff/file-bytes.js'
import { FileDiff } from '../../components/diff/file-diff.js'
import { EmptyMessage, ErrorMessage, Loading } from '../../components/states.js'
import { Author, count, Figures, Line } from '../../components/text.js'
import { PathInput } from './path-input.js'
import { type FileChange, useFileChanges } from './file-changes.js'
import { useVersions, type Version } from './use-versions.js'

export function FileHistory(): VNode {
  const path = route.value.query.get('path') ?? ''
  return <History key={`${project.value} ${path}`} path={path} />
}

function History({ path }: { readonly path: string }): VNode {
  const { loaded, readOlder } = useVersions(path)
  const result = loaded.state === 'ready' ? loaded.value : undefined
  const isEmpty = result?.versions.length === 0
  return (
    <div class="view file-history" data-view="file" data-state={isEmpty ? 'empty' : loaded.state}>
      <header class="file-header">
        <h1>Files</h1>
        <PathInput path={path} onChoose={(next) => navigate(addressOf('/files', { path: next }))} />
      </header>
      {loaded.state === 'loading' ? <Loading what="the history" /> : null}
      {loaded.state === 'error' ? <ErrorMessage error={loaded.error} /> : null}
      {isEmpty ? <NoVersions path={path} /> : null}
      {result === undefined || isEmpty ? null : (
        <Versions path={path} {...{ ...result, readOlder }} />
      )}
    </div>
  )
}

function NoVersions({ path }: { readonly path: string }): VNode {
  return path === '' ? (
    <EmptyMessage title="Every version of a file">
      <p>Enter the path of a file or folder of the project. It may have been deleted.</p>
    </EmptyMessage>
  ) : (
    <EmptyMessage title="No checkpoint has changed this path">
      <p>Paths are relative to the project and case-sensitive.</p>
    </EmptyMessage>
  )
}

function Versions(props: {
  readonly path: string
  readonly versions: readonly Version[]
  readonly isComplete: boolean
  readonly readOlder: (() => void) | undefined
}): VNode {
  const { path, versions, isComplete, readOlder } = props
  const { query } = route.value
  const at = Math.max(
    0,
    versions.findIndex(({ id }) => id === query.get('at')),
  )
  const selected = versions[at]
  const inside = selected?.paths ?? []
  // For a folder: one of the files that changed in it, even if the folder itself is new.
  const first = inside.find((one) => one !== path) ?? path
  const file = inside.find((one) => one === query.get('file')) ?? first
  const changes = useFileChanges(path, versions)
  const select = (index: number) => {
    const id = versions[index]?.id
    if (id !== undefined) navigate(addressOf('/files', { path, at: id }), { replace: true })
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0
    if (step === 0) return
    event.preventDefault()
    select(at + step)
  }
  return (
    <div class="changes">
      <aside class="changes-files" aria-label="Versions">
        <p class="changes-total">
          {count(versions.length, 'version')}
          {isComplete ? '' : ', and older ones'}
        </p>
        <div
          class="versions"
          role="listbox"
          aria-label="Versions, newest first"
          tabIndex={0}
          aria-activedescendant={`version-${at}`}
          onKeyDown={onKeyDown}
        >
          {versions.map((version, index) => (
            <VersionRow
              key={version.id}
              {...{ version, index }}
              change={changes.get(version.id)}
              isSelected={index === at}
              onSelect={() => select(index)}
            />
          ))}
        </div>
        {isComplete ? null : (
          <button
            type="button"
            class="button versions-older"
            disabled={readOlder === undefined}
            onClick={readOlder}
          >
            {readOlder === undefined ? 'Reading older versions …' : 'Show older versions'}
          </button>
        )}
      </aside>
      {selected === undefined ? null : (
        <div class="version">
          {inside.length > 1 ? <PathsInside {...{ path, file }} version={selected} /> : null}
          <FileDiff
            range={{ project: project.value, ref: selected.id, with: 'previous' }}
            path={file}
            before={versions[at + 1]?.id ?? null}
            after={selected.id}
            actions={(patch) =>
              patch === undefined ? null : (
                <VersionActions
                  path={file}
                  version={selected}
                  older={versions[at + 1]}
                  isDeleted={patch.sizeAfter === null}
                />
              )
            }
          />
        </div>
      )}
    </div>
  )
}

function VersionRow(props: {
  readonly version: Version
  readonly index: number
  readonly change: FileChange | undefined
  readonly isSelected: boolean
  readonly onSelect: () => void
}): VNode {
  const { version, index, change, isSelected, onSelect } = props
  const prompt = promptOf(version)
  return (
    <div
      role="option"
      class="version-row"
      id={`version-${index}`}
      data-id={version.id}
      aria-selected={isSelected}
      onClick={onSelect}
    >
      <div class="checkpoint-facts">
        <DateAndTime at={version.createdAt} />
        <Author name={version.author} />
        {change === undefined ? null : (
          <Figures insertions={change.insertions} deletions={change.deletions} />
        )}
        {change?.isAdded === true ? <span class="tag">new</span> : null}
        {change?.isDeleted === true ? <span class="tag">removed</span> : null}
      </div>
      <div class="version-title">
        <Line text={titleOf(version)} />
      </div>
      {prompt === undefined ? null : (
        <div class="version-title muted">
          <Line text={titleOf(prompt)} />
        </div>
      )}
    </div>
  )
}

function PathsInside(props: {
  readonly path: string
  readonly file: string
  readonly version: Version
}): VNode {
  const { path, file, version } = props
  const { id: at, paths, pathCount } = version
  const others = pathCount - paths.length
  return (
    <div class="paths-inside">
      <label>
        Changed in it{' '}
        <select
          class="input"
          value={file}
          onChange={({ currentTarget }) =>
            navigate(addressOf('/files', { path, at, file: currentTarget.value }), {
              replace: true,
            })
          }
        >
          {paths.map((one) => (
            <option key={one} value={one}>
              <Line text={one} />
            </option>
          ))}
        </select>
      </label>
      {others === 0 ? null : (
        <a href={addressOf(checkpointPath(at))} onClick={followLink}>
          and {count(others, 'other')}
        </a>
      )}
    </div>
  )
}

function VersionActions(props: {
  readonly path: string
  readonly version: Version
  readonly older: Version | undefined
  readonly isDeleted: boolean
}): VNode {
  const { path, version, older, isDeleted } = props
  // The version that deleted the file has no contents; the one before it has, also for a file in a folder whose versions these are.
  const source = isDeleted ? older : version
  return (
    <>
      <a
        class="button"
        data-kind="plain"
        href={addressOf(checkpointPath(version.id), { file: path })}
        onClick={followLink}
      >
        Open the checkpoint
      </a>
      {source === undefined ? null : (
        <>
          <DownloadButton of={{ ref: source.id, path }} />
          {start.value?.isExport === true ? null : (
            <button
              class="button"
              type="button"
              onClick={() => openRestore({ kind: 'rewind', ref: source.id, paths: [path] })}
            >
              {start.value?.isReadOnly === true
                ? 'Show plan'
                : isDeleted
                  ? 'Restore the last version…'
                  : 'Restore this version…'}
            </button>
          )}
        </>
      )}
    </>
  )
}
