// Asks about each change of each file, as `git checkout -p` does.
import type { FilePatch, HunkChoice } from '../../index.js'
import { choiceOf, type HunkItem, itemsOf, split } from './hunk-items.js'

type Prompts = {
  readonly show: (item: HunkItem, file: FilePatch) => void
  readonly say: (text: string) => void
  /** Undefined if the input ended. */
  readonly ask: (question: string) => Promise<string | undefined>
}

const HELP = [
  'y - take this change back',
  'n - leave it as it is',
  'q - stop here: leave this and all that follow, and do what was chosen',
  'a - take back this and all later changes of the file',
  'd - leave this and all later changes of the file',
  'j - decide later, go to the next change that is not decided',
  'k - decide later, go to the one before',
  's - split into smaller changes',
  '? - show this help',
].join('\n')

/** Undefined if the input ended before the last answer: then nothing is chosen. */
export async function pickHunks(
  files: readonly FilePatch[],
  prompts: Prompts,
): Promise<readonly HunkChoice[] | undefined> {
  const choices: HunkChoice[] = []
  for (const file of files) {
    const { items, isOver, hasEnded } = await pickInFile(file, prompts)
    if (hasEnded) return undefined
    const choice = choiceOf(items, file)
    if (choice !== undefined) choices.push(choice)
    if (isOver) break
  }
  return choices
}

type Picked = {
  readonly items: readonly HunkItem[]
  /** No other file is asked about. */
  readonly isOver: boolean
  readonly hasEnded: boolean
}

async function pickInFile(file: FilePatch, { show, say, ask }: Prompts): Promise<Picked> {
  let items = itemsOf(file)
  let at = 0
  for (;;) {
    const item = items[at]
    if (item === undefined || item.isTaken !== undefined) {
      const next = nextOpen(items, at)
      if (next === undefined) return { items, isOver: false, hasEnded: false }
      at = next
      continue
    }
    show(item, file)
    const parts = split(item, file)
    const keys = ['y', 'n', 'q', 'a', 'd', ...(items.length > 1 ? ['j', 'k'] : [])]
    const all = [...keys, ...(parts === undefined ? [] : ['s']), '?']
    const answer = await ask(`(${at + 1}/${items.length}) Take this back [${all.join(',')}]? `)
    if (answer === undefined) return { items, isOver: true, hasEnded: true }
    const key = answer.trim().toLowerCase().slice(0, 1)
    if (key === 'y' || key === 'n') items = decide(items, [at, at + 1], key === 'y')
    else if (key === 'a' || key === 'd') items = decide(items, [at, items.length], key === 'a')
    else if (key === 'q') return { items, isOver: true, hasEnded: false }
    else if (key === 'j') at = nextOpen(items, at + 1) ?? at
    else if (key === 'k') at = lastOpen(items, at) ?? at
    else if (key === 's' && parts !== undefined) items = items.toSpliced(at, 1, ...parts)
    else say(HELP)
  }
}

/** Changes that are decided already stay so. */
function decide(
  items: readonly HunkItem[],
  [from, to]: readonly [number, number],
  isTaken: boolean,
): readonly HunkItem[] {
  return items.map((item, index) =>
    index >= from && index < to && item.isTaken === undefined ? { ...item, isTaken } : item,
  )
}

/** From `at` on, then from the start. */
function nextOpen(items: readonly HunkItem[], at: number): number | undefined {
  const open = items.flatMap(({ isTaken }, index) => (isTaken === undefined ? [index] : []))
  return open.find((index) => index >= at) ?? open[0]
}

function lastOpen(items: readonly HunkItem[], at: number): number | undefined {
  const open = items.flatMap(({ isTaken }, index) => (isTaken === undefined ? [index] : []))
  return open.findLast((index) => index < at) ?? open.at(-1)
}
