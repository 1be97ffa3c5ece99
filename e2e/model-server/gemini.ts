// Gemini's generateContent and streamGenerateContent.
import { type Entry, type Spoken, type Tool, userEntry } from './conversation.js'
import { type Dialect, jsonReply, streamReply } from './dialect.js'
import { asList, asReadable, asRecord, asText, type Json } from './json.js'

const ADDRESS = /\/models\/([^/:]+):(generateContent|streamGenerateContent)$/

export const gemini: Dialect = {
  name: 'gemini',
  speaks: (url) => ADDRESS.test(url.pathname),
  parse: (body, url) => {
    const [, model = '', method = ''] = ADDRESS.exec(url.pathname) ?? []
    const instructions = asRecord(body['systemInstruction'])
    return {
      dialect: 'gemini',
      model,
      stream: method === 'streamGenerateContent',
      tools: asList(body['tools']).flatMap((group) => toolsOf(asRecord(group))),
      entries: [
        ...asList(instructions['parts']).map((part): Entry => note(asRecord(part))),
        ...asList(body['contents']).flatMap((content) => entriesOf(asRecord(content))),
      ],
    }
  },
  say(answer, request) {
    if (answer.kind === 'error') {
      const { status: code, message } = answer
      return jsonReply({ error: { code, message, status: 'SCRIPTED' } }, code)
    }
    const candidate = {
      index: 0,
      content: { role: 'model', parts: partsOf(answer) },
      finishReason: 'STOP',
    }
    const usage = { promptTokenCount: 10, candidatesTokenCount: 10, totalTokenCount: 20 }
    const response = {
      candidates: [candidate],
      usageMetadata: usage,
      modelVersion: request.model,
    }
    return request.stream ? streamReply([{ data: response }]) : jsonReply(response)
  },
}

function toolsOf(group: Json): Tool[] {
  return asList(group['functionDeclarations'])
    .map(asRecord)
    .map((tool) => ({
      name: asText(tool['name']),
      schema: asRecord(tool['parametersJsonSchema'] ?? tool['parameters']),
    }))
}

function entriesOf(content: Json): Entry[] {
  const role = asText(content['role'])
  return asList(content['parts'])
    .map(asRecord)
    .map((part): Entry => {
      const call = asRecord(part['functionCall'])
      if ('name' in call) return { kind: 'call', tool: asText(call['name']), input: call['args'] }
      const result = asRecord(part['functionResponse'])
      if ('name' in result) return { kind: 'result', text: resultText(result['response']) }
      const text = asText(part['text'])
      return role === 'model' ? { kind: 'say', text } : userEntry(text)
    })
}

function note(part: Json): Entry {
  return { kind: 'note', role: 'system', text: asText(part['text']) }
}

function resultText(response: unknown): string {
  return asReadable(asRecord(response)['output'] ?? response)
}

function partsOf(answer: Spoken): readonly Json[] {
  if (answer.kind === 'say') return [{ text: answer.text }]
  return answer.calls.map(({ tool, input }) => ({ functionCall: { name: tool.name, args: input } }))
}
