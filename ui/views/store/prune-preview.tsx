// What a prune would remove. It only asks: the command does it.
import type { VNode } from 'preact'
import { useRef, useState } from 'preact/hooks'
import type { Output, StorePage } from '../../../src/ui/api.js'
import { call, RequestError } from '../../app/transport.js'
import { Command } from '../../components/command.js'
import { ErrorMessage } from '../../components/states.js'
import { count, formatBytes, visibleText } from '../../components/text.js'
import { parseLimit, removalsOf } from './words.js'

type Preview = Output<'prunePreview'>

export function PrunePreview({
  limits,
}: {
  readonly limits: StorePage['status']['limits']
}): VNode {
  const [size, setSize] = useState('')
  const [days, setDays] = useState('')
  const [isBusy, setIsBusy] = useState(false)
  const [preview, setPreview] = useState<Preview | RequestError | undefined>(undefined)
  const newest = useRef(0)
  const [maxSizeMb, retentionDays] = [parseLimit(size), parseLimit(days)]
  const isWrong = maxSizeMb === null || retentionDays === null
  const load = async () => {
    if (maxSizeMb === null || retentionDays === null) return
    newest.current += 1
    const own = newest.current
    setIsBusy(true)
    const answer = await call('prunePreview', {
      ...(maxSizeMb === undefined ? {} : { maxSizeMb }),
      ...(retentionDays === undefined ? {} : { retentionDays }),
    }).catch((error: unknown) => {
      if (error instanceof RequestError) return error
      throw error
    })
    // The user has changed the limits and asked again.
    if (own !== newest.current) return
    setPreview(answer)
    setIsBusy(false)
  }
  return (
    <section class="store-section" aria-labelledby="store-prune">
      <h2 id="store-prune">What a prune would remove</h2>
      <form
        class="store-form"
        onSubmit={(event) => {
          event.preventDefault()
          void load()
        }}
      >
        <label>
          <span>Size limit in MB</span>
          <input
            class="input"
            inputMode="numeric"
            value={size}
            placeholder={`${limits.maxSizeMb}`}
            aria-invalid={maxSizeMb === null}
            aria-describedby={isWrong ? 'store-prune-wrong' : undefined}
            onInput={(event) => setSize(event.currentTarget.value)}
          />
        </label>
        <label>
          <span>Keep for days</span>
          <input
            class="input"
            inputMode="numeric"
            value={days}
            placeholder="as set"
            aria-invalid={retentionDays === null}
            aria-describedby={isWrong ? 'store-prune-wrong' : undefined}
            onInput={(event) => setDays(event.currentTarget.value)}
          />
        </label>
        <button type="submit" class="button" disabled={isBusy || isWrong}>
          {isBusy ? 'Calculating …' : 'Preview'}
        </button>
        <span class="muted">Nothing is removed from this page.</span>
      </form>
      {isWrong ? (
        <p id="store-prune-wrong" class="store-warn">
          Give a whole number of at least 1, or leave the field empty.
        </p>
      ) : null}
      <div role="status">
        {preview === undefined ? null : preview instanceof RequestError ? (
          <ErrorMessage error={preview} />
        ) : (
          <Result preview={preview} />
        )}
      </div>
    </section>
  )
}

function Result({ preview: { result, command } }: { readonly preview: Preview }): VNode {
  const { plan, above } = result
  const removals = removalsOf(result)
  const total = removals.reduce((sum, { checkpoints }) => sum + checkpoints, 0)
  const freed = Math.max(0, plan.sizeBytes - plan.afterBytes)
  const forgets = plan.projects.filter(({ forgetsUndo }) => forgetsUndo)
  return (
    <div class="store-preview">
      <p>
        {total === 0 ? (
          <strong>No checkpoint would be removed.</strong>
        ) : (
          <strong>
            {count(total, 'checkpoint')} would go, about {formatBytes(freed)}.
          </strong>
        )}{' '}
        The store uses {formatBytes(plan.sizeBytes)} and would use about{' '}
        {formatBytes(plan.afterBytes)} of {formatBytes(plan.capBytes)}.
      </p>
      {removals.length === 0 ? null : (
        <ul class="store-reasons">
          {removals.map(({ reason, checkpoints }) => (
            <li key={reason}>
              <span class="number">{checkpoints.toLocaleString('en')}</span> {reason}
            </li>
          ))}
        </ul>
      )}
      {plan.sessions.length === 0 ? null : (
        <p>{count(plan.sessions.length, 'session')} would go as a whole.</p>
      )}
      {forgets.map(({ path }) => (
        <p key={path} class="store-warn">
          The last rewind of {visibleText(path)} could no longer be undone.
        </p>
      ))}
      {above === null ? null : (
        <p class="store-warn">
          It would stay {formatBytes(above.byBytes)} over the limit. Always kept:{' '}
          {above.because.join(', ')}.
        </p>
      )}
      <p>
        The command: <Command text={command} />
      </p>
    </div>
  )
}
