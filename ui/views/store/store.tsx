// The store: its size by project, its limits, what a prune would remove, and its health. Nothing is removed from here.
import type { VNode } from 'preact'
import { storeVersion } from '../../app/model.js'
import { call } from '../../app/transport.js'
import { ErrorMessage, Loading, useLoaded } from '../../components/states.js'
import { visibleText } from '../../components/text.js'
import { Health } from './health.js'
import { PrunePreview } from './prune-preview.js'
import { Usage } from './usage.js'
import { Verify } from './verify.js'

export function StoreView(): VNode {
  const loaded = useLoaded((signal) => call('store', {}, { signal }), [storeVersion.value])
  return (
    <div class="view store" data-view="store" data-state={loaded.state}>
      <h1>Store</h1>
      {loaded.state === 'loading' ? <Loading what="the store" /> : null}
      {loaded.state === 'error' ? (
        <>
          <ErrorMessage error={loaded.error} />
          {/* A store that cannot be read can still be checked. */}
          <section class="store-section" aria-labelledby="store-verify">
            <h2 id="store-verify">Check</h2>
            <Verify />
          </section>
        </>
      ) : null}
      {loaded.state === 'ready' ? (
        <>
          <p class="muted">
            <code>{visibleText(loaded.value.home)}</code>
          </p>
          <Usage status={loaded.value.status} />
          <PrunePreview limits={loaded.value.status.limits} />
          <Health page={loaded.value} />
        </>
      ) : null}
    </div>
  )
}
