// The timeline without rows: no project, nothing saved yet, or nothing that matches the filter.
import type { VNode } from 'preact'
import { start } from '../../app/model.js'
import { addressOf, followLink } from '../../app/router.js'
import { Command } from '../../components/command.js'
import { EmptyMessage } from '../../components/states.js'

export function NoProject(): VNode {
  return (
    <div class="view" data-view="timeline" data-state="empty">
      <h1 class="visually-hidden">Timeline</h1>
      <EmptyMessage title="There is no project yet">
        <p>A folder becomes a project when something in it is saved. In that folder:</p>
        <HowToBegin />
      </EmptyMessage>
    </div>
  )
}

export function NothingSaved(): VNode {
  const hooked = start.value?.hookedAgents ?? []
  return (
    <div class="view" data-view="timeline" data-state="empty">
      <h1 class="visually-hidden">Timeline</h1>
      <EmptyMessage title="Nothing is saved here yet">
        {hooked.length === 0 ? (
          <p>Let your coding agent save at every prompt and tool call, or save by hand:</p>
        ) : (
          <p>
            The hooks of {hooked.join(' and ')} are installed: the first prompt in this folder makes
            the first checkpoint. To save by hand:
          </p>
        )}
        <HowToBegin />
      </EmptyMessage>
    </div>
  )
}

function HowToBegin(): VNode {
  const hooked = start.value?.hookedAgents ?? []
  return (
    <ul class="tl-begin">
      {hooked.length > 0 ? null : (
        <li>
          <Command text="savestate install claude" />
        </li>
      )}
      <li>
        <Command text="savestate save" />
      </li>
    </ul>
  )
}

export function NoMatch(): VNode {
  return (
    <EmptyMessage title="No checkpoint matches the filter">
      <p>
        <a href={addressOf('/')} onClick={followLink}>
          Show all checkpoints
        </a>
      </p>
    </EmptyMessage>
  )
}
