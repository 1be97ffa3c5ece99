// Starts the processes, assigns the folders in turn, kills and restarts them.
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import process from 'node:process'
import type { Random } from '../bench/trees/random.js'
import type { Assignment, ToModel, ToWorker } from './messages.js'
import type { Model } from './model.js'

type Member = { readonly child: ChildProcess; readonly slot: number; readonly held: Set<string> }

export class Crew {
  readonly #program: string
  readonly #model: Model
  readonly #assign: (slot: number) => Assignment
  readonly #members = new Map<number, Member>()
  readonly #waiting: { readonly project: string; readonly member: Member }[] = []
  #isStopping = false
  kills = 0

  constructor(program: string, model: Model, assign: (slot: number) => Assignment) {
    this.#program = program
    this.#model = model
    this.#assign = assign
  }

  start(slot: number): void {
    const child = fork(this.#program, [JSON.stringify(this.#assign(slot))], {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      // In its own process group, so that its commands are killed with it.
      detached: true,
    })
    const member: Member = { child, slot, held: new Set() }
    this.#members.set(slot, member)
    child.on('message', (message: ToModel) => this.#hear(member, message))
    child.on('exit', (code, signal) => {
      if (signal === null && !this.#isStopping)
        this.#model.fault(`process ${child.pid} ended by itself with ${code}`)
      this.#leave(member)
      if (!this.#isStopping) this.start(slot)
    })
  }

  /** Never the first one, whose memory is measured over the whole time. */
  killOne(random: Random): void {
    const others = [...this.#members.values()].filter(({ slot }) => slot > 0)
    if (others.length === 0) return
    const { pid, exitCode, signalCode } = random.pick(others).child
    if (pid === undefined || exitCode !== null || signalCode !== null) return
    process.kill(-pid, 'SIGKILL')
    this.kills += 1
  }

  async stop(graceMs: number): Promise<void> {
    this.#isStopping = true
    const ends = [...this.#members.values()].map(async ({ child }) => {
      if (child.exitCode !== null || child.signalCode !== null) return
      const ended = once(child, 'exit')
      tell(child, { kind: 'stop' })
      const timer = setTimeout(() => {
        this.#model.fault(`process ${child.pid} did not stop`)
        child.kill('SIGKILL')
      }, graceMs)
      await ended
      clearTimeout(timer)
    })
    await Promise.all(ends)
  }

  #hear(member: Member, message: ToModel): void {
    const model = this.#model
    switch (message.kind) {
      case 'want':
        this.#waiting.push({ project: message.project, member })
        return this.#grant()
      case 'release':
        member.held.delete(message.project)
        return this.#grant()
      case 'saved':
        return model.saved(message.project, message.known)
      case 'missing':
        return model.missing(message.project, message.id)
      case 'stepped':
        return model.stepped(message.session, message)
      case 'resumed':
        return model.resumed(message.session, message)
      case 'done':
        return model.count(message.what)
      case 'memory':
        if (member.slot === 0) model.memoryMb.push(message.residentMb)
        return
      case 'fault':
        return model.fault(`${message.what}: ${message.message}`)
      case 'stepping':
    }
  }

  #leave(member: Member): void {
    member.held.clear()
    const still = this.#waiting.filter((waiting) => waiting.member !== member)
    this.#waiting.splice(0, this.#waiting.length, ...still)
    if (this.#members.get(member.slot) === member) this.#members.delete(member.slot)
    this.#grant()
  }

  /** One at a time for each folder. */
  #grant(): void {
    for (const waiting of this.#waiting.slice()) {
      const { project, member } = waiting
      if ([...this.#members.values()].some(({ held }) => held.has(project))) continue
      this.#waiting.splice(this.#waiting.indexOf(waiting), 1)
      member.held.add(project)
      tell(member.child, { kind: 'granted', project, known: this.#model.of(project) })
    }
  }
}

function tell(child: ChildProcess, message: ToWorker): void {
  // A process that was just killed gets no message; its exit is handled elsewhere.
  if (child.connected) child.send(message, () => undefined)
}
