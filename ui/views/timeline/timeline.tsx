// The first view: all checkpoints of the project, newest first, grouped by session and prompt.
import type { VNode } from 'preact'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { Row } from '../../../src/ui/api.js'
import { here, isComplete, project, rows, start } from '../../app/model.js'
import { route } from '../../app/router.js'
import { daysOf, stripMarks } from './days.js'
import { NoMatch, NoProject, NothingSaved } from './empty.js'
import { filterGroups, parseFilter } from './filters.js'
import { groupRows, sessionTitles } from './groups.js'
import { HereSentence } from './here.js'
import { focusChosen, useTimelineKeys } from './keys.js'
import { type Heights, layOut, linesOf, NARROW, WIDE } from './lines.js'
import { TimelineList } from './list.js'
import { activeKey, folds, resetFor } from './state.js'
import { Strip } from './strip.js'
import { type SessionOption, Toolbar } from './toolbar.js'
import { useNewRows } from './use-new-rows.js'
import { authorsOf, promptText } from './words.js'

export function Timeline(): VNode {
  if (project.value === '') return <NoProject />
  if (rows.value.length === 0) return <NothingSaved />
  return <FilledTimeline key={project.value} />
}

function FilledTimeline(): VNode {
  resetFor(project.value)
  const all = rows.value
  const heights = useHeights()
  const scroller = useRef<HTMLDivElement | null>(null)
  const filter = useMemo(() => parseFilter(route.value.query), [route.value])
  const groups = useMemo(() => groupRows(all), [all])
  const filtered = useMemo(() => filterGroups(groups, filter), [groups, filter])
  const lines = useMemo(() => linesOf(filtered, folds.value), [filtered, folds.value])
  const layout = useMemo(() => layOut(lines, heights), [lines, heights])
  const days = useMemo(() => daysOf(lines, layout), [lines, layout])
  const titles = useMemo(() => sessionTitles(all), [all])
  const options = useMemo(() => optionsOf(all, titles), [all, titles])
  const hereId = here.value?.newest ?? null
  const marks = useMemo(() => stripMarks(lines, layout, hereId), [lines, layout, hereId])
  const { ids: newIds, announcement } = useNewRows(all, project.value)
  useTimelineKeys({ lines, layout, scroller })
  useEffect(() => {
    // Back from a checkpoint: its row has the focus again.
    if (activeKey.peek() !== undefined) focusChosen()
  }, [])
  const jump = (top: number) => {
    if (scroller.current !== null) scroller.current.scrollTop = top
  }
  const { isExport = false } = start.value ?? {}
  return (
    <div class="view timeline" data-view="timeline" data-state="ready">
      <h1 class="visually-hidden">Timeline</h1>
      <HereSentence />
      <Toolbar
        filter={filter}
        sessions={options.sessions}
        authors={options.authors}
        days={days}
        shown={all.length}
        isComplete={isComplete.value}
        onJump={jump}
      />
      {lines.length === 0 ? (
        <NoMatch />
      ) : (
        <div class="tl-body">
          <TimelineList
            lines={lines}
            layout={layout}
            heights={heights}
            hereId={hereId}
            newIds={newIds}
            titles={titles}
            canPlan={!isExport}
            scroller={scroller}
          />
          <Strip days={days} marks={marks} height={layout.height} onJump={jump} />
        </div>
      )}
      <p class="visually-hidden" role="status" aria-live="polite">
        {announcement}
      </p>
    </div>
  )
}

const PHONE = '(max-width: 700px)'

function useHeights(): Heights {
  const [isNarrow, setNarrow] = useState(() => window.matchMedia(PHONE).matches)
  useEffect(() => {
    const media = window.matchMedia(PHONE)
    const update = () => setNarrow(media.matches)
    media.addEventListener('change', update)
    return () => media.removeEventListener('change', update)
  }, [])
  return isNarrow ? NARROW : WIDE
}

const MAX_LABEL = 60

function optionsOf(all: readonly Row[], titles: ReadonlyMap<string, Row>) {
  const sessions = new Map<string, SessionOption>()
  for (const { session, sessionAgent } of all) {
    if (session === null || sessions.has(session)) continue
    const prompt = titles.get(session)
    const words = prompt === undefined ? session : promptText(prompt)
    const short = words.length > MAX_LABEL ? `${words.slice(0, MAX_LABEL - 1)}…` : words
    sessions.set(session, { id: session, label: `${sessionAgent ?? 'session'}: ${short}` })
  }
  return {
    sessions: [...sessions.values()],
    authors: [...new Set(all.flatMap(authorsOf))].sort(),
  }
}
