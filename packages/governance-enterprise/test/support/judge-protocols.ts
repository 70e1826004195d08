import type { IncomingHttpHeaders, ServerResponse } from 'node:http'

type Json = Record<string, unknown>

/** The request to the model. */
export interface Asked {
  readonly model: string
  readonly system: string
  readonly user: string
  /** The JSON mode of the request. */
  readonly form: 'json_schema' | 'tool' | 'json_object' | 'none'
  /** JSON Schema of the verdict; null where only words describe it. */
  readonly schema: Json | null
}

export interface Saying {
  readonly usage?: unknown
  readonly ending?: 'stop' | 'length' | 'refusal'
}

/** One protocol, from the server's side. */
export interface Speaker {
  read(body: Json): Asked
  /** The reason for a 400 by the real server, or null. */
  faultOf(body: Json, headers: IncomingHttpHeaders): string | null
  /** The body of a success. */
  answer(asked: Asked, text: string, saying?: Saying): Json
}

export function refuse(
  response: ServerResponse,
  status: number,
  message: string,
  headers: Record<string, string> = {},
): void {
  const error = { type: 'error', error: { type: 'invalid_request_error', message } }
  response.writeHead(status, { 'content-type': 'application/json', ...headers })
  response.end(JSON.stringify(error))
}

export const speakerOf = (path: string): Speaker | undefined =>
  path === '/v1/chat/completions' ? openai : path === '/v1/messages' ? anthropic : undefined

const OPENAI_FIELDS = new Set([
  'model',
  'messages',
  'response_format',
  'tools',
  'tool_choice',
  'max_completion_tokens',
  'max_tokens',
  'temperature',
  'reasoning_effort',
])
const ANTHROPIC_FIELDS = new Set([
  'model',
  'max_tokens',
  'system',
  'messages',
  'output_config',
  'tools',
  'tool_choice',
])

const openai: Speaker = {
  read(body) {
    const messages = body['messages'] as { role: string; content: string }[]
    const format = body['response_format'] as { type: string; json_schema?: Json } | undefined
    const tool = (body['tools'] as { function: Json }[] | undefined)?.[0]
    const contentOf = (role: string) => messages.find((one) => one.role === role)?.content ?? ''
    return {
      model: String(body['model']),
      system: contentOf('system'),
      user: contentOf('user'),
      form: tool ? 'tool' : ((format?.type ?? 'none') as Asked['form']),
      schema: ((tool?.function['parameters'] ?? format?.json_schema?.['schema']) as Json) ?? null,
    }
  },
  faultOf(body) {
    const unknown = Object.keys(body).find((name) => !OPENAI_FIELDS.has(name))
    if (unknown !== undefined) return `Unknown parameter: ${unknown}`
    const { schema } = openai.read(body)
    return schema && strictFault(schema)
  },
  answer(asked, text, { usage, ending = 'stop' } = {}) {
    const said =
      asked.form === 'tool'
        ? {
            content: null,
            tool_calls: [
              { id: 'call_1', type: 'function', function: { name: 'verdict', arguments: text } },
            ],
          }
        : { content: text }
    const refusal = ending === 'refusal' ? { content: null, refusal: 'I cannot do that.' } : {}
    return {
      id: 'chatcmpl-1',
      object: 'chat.completion',
      created: 1_795_000_000,
      model: asked.model,
      choices: [
        {
          index: 0,
          logprobs: null,
          finish_reason:
            ending === 'length' ? 'length' : asked.form === 'tool' ? 'tool_calls' : 'stop',
          message: { role: 'assistant', refusal: null, ...said, ...refusal },
        },
      ],
      usage: usage ?? {
        prompt_tokens: 1000,
        completion_tokens: 100,
        total_tokens: 1100,
        prompt_tokens_details: { cached_tokens: 200 },
      },
    }
  },
}

const anthropic: Speaker = {
  read(body) {
    const [message] = body['messages'] as { content: string }[]
    const config = body['output_config'] as { format?: Json } | undefined
    const tool = (body['tools'] as Json[] | undefined)?.[0]
    return {
      model: String(body['model']),
      system: (body['system'] as string | undefined) ?? '',
      user: message?.content ?? '',
      form: tool ? 'tool' : config?.format ? 'json_schema' : 'none',
      schema: ((tool?.['input_schema'] ?? config?.format?.['schema']) as Json) ?? null,
    }
  },
  faultOf(body, headers) {
    if (headers['anthropic-version'] !== '2026-10-21') return 'anthropic-version: is not known'
    if (typeof body['max_tokens'] !== 'number') return 'max_tokens: Field required'
    const unknown = Object.keys(body).find((name) => !ANTHROPIC_FIELDS.has(name))
    if (unknown !== undefined) return `${unknown}: Extra inputs are not permitted`
    const { schema } = anthropic.read(body)
    return schema && strictFault(schema)
  },
  answer(asked, text, { usage, ending = 'stop' } = {}) {
    const block =
      asked.form === 'tool'
        ? { type: 'tool_use', id: 'toolu_1', name: 'verdict', input: JSON.parse(text) as unknown }
        : { type: 'text', text, citations: null }
    const reasons = { stop: asked.form === 'tool' ? 'tool_use' : 'end_turn', length: 'max_tokens' }
    return {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: asked.model,
      content: ending === 'refusal' ? [] : [block],
      stop_reason: ending === 'refusal' ? 'refusal' : reasons[ending],
      stop_sequence: null,
      usage: usage ?? { input_tokens: 800, cache_read_input_tokens: 200, output_tokens: 100 },
    }
  },
}

/** Both providers take a schema only where every name is required and no other is allowed. */
function strictFault(schema: Json): string | null {
  if (schema['type'] !== 'object') return null
  const properties = schema['properties'] as Record<string, Json>
  const names = Object.keys(properties)
  if (schema['additionalProperties'] !== false) return "'additionalProperties' must be false"
  const required = schema['required'] as string[]
  if (names.some((name) => !required.includes(name))) return "'required' must name every property"
  for (const property of Object.values(properties)) {
    const fault = strictFault(property)
    if (fault !== null) return fault
  }
  return null
}
