// Lines of a conversation as Claude Code 2.1 writes them into its transcript, one JSON object each.
import { randomUUID } from 'node:crypto'

export type TranscriptLine = Readonly<Record<string, unknown>>

export type Call = {
  readonly id: string
  readonly tool: string
  readonly input: Readonly<Record<string, unknown>>
}

/** Writes one session. The clock moves on by some seconds per line. */
export class ClaudeTranscript {
  private parent: string | null = null
  private answers = 0

  constructor(
    private readonly session: string,
    private readonly cwd: string,
    private nowMs: number,
  ) {}

  prompt(promptId: string, text: string): TranscriptLine {
    return this.line({ type: 'user', promptId, message: { role: 'user', content: text } })
  }

  thinking(text: string): TranscriptLine {
    return this.answer([{ type: 'thinking', thinking: text, signature: 'c2lnbmF0dXJl' }])
  }

  text(text: string): TranscriptLine {
    return this.answer([{ type: 'text', text }])
  }

  call({ id, tool, input }: Call): TranscriptLine {
    return this.answer([{ type: 'tool_use', id, name: tool, input }])
  }

  result({ id }: Pick<Call, 'id'>, text: string, isError = false): TranscriptLine {
    const content = [{ tool_use_id: id, type: 'tool_result', content: text, is_error: isError }]
    return this.line({
      type: 'user',
      message: { role: 'user', content },
      toolUseResult: { stdout: text, stderr: '', interrupted: false, isImage: false },
    })
  }

  /** Lines of a subagent are marked, and stand between those of the main conversation. */
  bySubagent(agentId: string, lines: readonly TranscriptLine[]): readonly TranscriptLine[] {
    return lines.map((line) => ({ ...line, isSidechain: true, agentId }))
  }

  private answer(content: readonly TranscriptLine[]): TranscriptLine {
    this.answers += 1
    const id = `msg_${String(this.answers).padStart(6, '0')}`
    const usage = { input_tokens: 1200 + this.answers, output_tokens: 90 }
    const model = 'claude-sonnet-4-5'
    const message = { id, type: 'message', role: 'assistant', model, content, usage }
    return this.line({ type: 'assistant', message, requestId: `req_${this.answers}` })
  }

  private line(fields: TranscriptLine): TranscriptLine {
    const uuid = randomUUID()
    const parentUuid = this.parent
    this.parent = uuid
    this.nowMs += 3_000
    return {
      parentUuid,
      isSidechain: false,
      userType: 'external',
      cwd: this.cwd,
      sessionId: this.session,
      version: '2.1.325',
      gitBranch: 'main',
      ...fields,
      uuid,
      timestamp: new Date(this.nowMs).toISOString(),
    }
  }
}
