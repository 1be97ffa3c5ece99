// The changed files on the left, the diff of the selected one on the right.
import type { VNode } from 'preact'
import { useEffect } from 'preact/hooks'
import type { Output, Range } from '../../../src/ui/api.js'
import { openRestore } from '../../app/dialogs.js'
import { folderVersion, start } from '../../app/model.js'
import { addressOf, checkpointPath, followLink, navigate, route } from '../../app/router.js'
import { call } from '../../app/transport.js'
import { FileDiff } from '../../components/diff/file-diff.js'
import { FileList } from '../../components/file-list.js'
import { EmptyMessage, ErrorMessage, Loading, useLoaded } from '../../components/states.js'
import { count, Figures } from '../../components/text.js'

export function ChangesTab(props: {
  readonly range: Range
  readonly tab: 'changed' | 'since'
  readonly onState: (state: string) => void
}): VNode {
  const { range, tab, onState } = props
  const { id, query } = route.value
  // A checkpoint does not change; the folder does.
  const version = tab === 'since' ? folderVersion.value : 0
  const loaded = useLoaded(async (signal) => call('changes', range, { signal }), [version])
  useEffect(() => onState(loaded.state), [loaded.state])
  if (loaded.state === 'error') return <ErrorMessage error={loaded.error} />
  if (loaded.state === 'loading') return <Loading what="the changed files" />
  const { changes, files, insertions, deletions, from, to } = loaded.value
  const path = selectPath(changes, query.get('file'))
  if (path === undefined)
    return (
      <EmptyMessage title={tab === 'since' ? 'Nothing changed since then' : 'No file changed here'}>
        <p>
          {tab === 'since'
            ? 'Your folder has the files of this checkpoint.'
            : 'The files are the same as in the checkpoint before it.'}
        </p>
      </EmptyMessage>
    )
  const select = (next: string) =>
    navigate(
      addressOf(checkpointPath(id), { tab: tab === 'changed' ? undefined : tab, file: next }),
      { replace: true },
    )
  return (
    <div class="changes">
      <aside class="changes-files" aria-label="Changed files">
        <p class="changes-total">
          {count(files, 'file')} <Figures insertions={insertions} deletions={deletions} />
        </p>
        <FileList label="Files" files={changes} selected={path} onSelect={select} />
      </aside>
      <FileDiff
        range={range}
        path={path}
        before={from}
        after={to}
        version={version}
        actions={() => <FileActions id={id} path={path} />}
      />
    </div>
  )
}

/** The file of the address, or the first one with lines; undefined if nothing changed. */
function selectPath(
  changes: Output<'changes'>['changes'],
  file: string | null,
): string | undefined {
  const selected =
    changes.find(({ path }) => path === file) ??
    changes.find((one) => one.insertions !== null) ??
    changes[0]
  return selected?.path
}

export function FileActions({ id, path }: { readonly id: string; readonly path: string }): VNode {
  return (
    <>
      <a class="button" data-kind="plain" href={addressOf('/files', { path })} onClick={followLink}>
        History
      </a>
      {start.value?.isExport === true ? null : (
        <button
          class="button"
          type="button"
          onClick={() => openRestore({ kind: 'rewind', ref: id, paths: [path] })}
        >
          {start.value?.isReadOnly === true ? 'Show plan' : 'Restore this file…'}
        </button>
      )}
    </>
  )
}
