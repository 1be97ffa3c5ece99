// Everything besides the list of files that the user must know before going back.
import type { VNode } from 'preact'
import type { Plan, Row } from '../../../src/ui/api.js'
import { rows } from '../../app/model.js'
import { Line, count, relativeTime } from '../../components/text.js'

const MAX_LISTED = 5

const LEFT_OUT: Readonly<Record<keyof Row['skippedByReason'], string>> = {
  ignored: 'ignored',
  secret: 'secret',
  'too-large': 'too large',
  unreadable: 'unreadable',
  unstable: 'kept changing',
  special: 'not a file',
  vcs: 'version control',
  reserved: 'with a name that git cannot store',
  store: 'the store itself',
  temporary: 'left by an interrupted rewind',
  forgotten: 'forgotten',
}

export function Notes({ plan }: { readonly plan: Plan }): VNode {
  const { notRestored, outside, conversation, runningSession, target, restore } = plan
  const leftOut = Object.entries(target?.skippedByReason ?? {}).filter(([, number]) => number > 0)
  const hasFiles = restore !== 'conversation'
  return (
    <ul class="restore-notes">
      {hasFiles && notRestored.length > 0 ? (
        <li data-note="warn">
          <p>
            <strong>Not brought back</strong>, because no checkpoint has it:
          </p>
          <NotRestored found={notRestored} />
        </li>
      ) : null}
      {hasFiles && outside.length > 0 ? (
        <li data-note="warn">
          <p>
            <strong>Not taken back</strong>, because it is outside the folder:
          </p>
          <Outside found={outside} />
        </li>
      ) : null}
      {runningSession === null ? null : (
        <li data-note="warn">
          <strong>{agentOf(runningSession)} is working here.</strong> Savestate tells it at its next
          prompt that files have changed.
        </li>
      )}
      {conversation === null ? null : (
        <li>
          <Line text={conversation} />
        </li>
      )}
      {hasFiles && leftOut.length > 0 ? (
        <li>
          Stays as it is, because the checkpoint left it out:{' '}
          {leftOut
            .map(
              ([reason, number]) =>
                `${number.toLocaleString('en')} ${LEFT_OUT[reason as keyof typeof LEFT_OUT]}`,
            )
            .join(', ')}
          .
        </li>
      ) : null}
      {hasFiles ? (
        <li>
          The folder is saved first as a safety checkpoint, so Undo stays possible. Databases,
          running programs and pushed commits are not changed.
        </li>
      ) : (
        <li>No file is changed.</li>
      )}
    </ul>
  )
}

function Outside({ found }: { readonly found: Plan['outside'] }): VNode {
  const item = ({ checkpoint, command, prompt, at }: Plan['outside'][number]) => (
    <li key={`${checkpoint} ${command}`}>
      <code>
        <Line text={command} />
      </code>{' '}
      <span class="muted">
        {relativeTime(at)}
        {prompt === null ? null : (
          <>
            {' '}
            under “<Line text={prompt} />”
          </>
        )}
      </span>
    </li>
  )
  return limitItems(found.map(item), 'other command')
}

function NotRestored({ found }: { readonly found: Plan['notRestored'] }): VNode {
  const item = ({ path, isFolder, change, by, at, reason }: Plan['notRestored'][number]) => (
    <li key={path}>
      <code>
        <Line text={`${path}${isFolder ? '/' : ''}`} />
      </code>{' '}
      <span class="muted">
        {change} by “<Line text={by} />” {relativeTime(at)} ({LEFT_OUT[reason]})
      </span>
    </li>
  )
  return limitItems(found.map(item), 'other path')
}

/** Sessions of coding agents have random ids, so the name of the agent says more. */
function agentOf(session: string): string {
  return rows.value.find((row) => row.session === session)?.sessionAgent ?? session
}

/** The first items, and the others folded. `noun` is one of the others. */
function limitItems(items: readonly VNode[], noun: string): VNode {
  const more = items.slice(MAX_LISTED)
  return (
    <>
      <ul class="restore-paths">{items.slice(0, MAX_LISTED)}</ul>
      {more.length === 0 ? null : (
        <details>
          <summary>{count(more.length, noun)}</summary>
          <ul class="restore-paths">{more}</ul>
        </details>
      )}
    </>
  )
}
