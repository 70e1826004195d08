import { z } from 'zod'
import type { JsonForm } from './judges.ts'
import type { JudgeTask } from './params.ts'
import type { Prompt } from './prompt.ts'
import { TokenCount } from './usage.ts'
import type { TokenUsage } from './usage.ts'

type Json = Readonly<Record<string, unknown>>

export interface ProviderRequest {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Json
}

/** The response of a provider with status 200. */
export interface ProviderReply {
  readonly ending: 'complete' | 'truncated' | 'refused'
  /** JSON as text or value; null for a response without an answer in the provider's shape. */
  readonly answer: unknown
  /** Null if missing or invalid. */
  readonly usage: TokenUsage | null
}

/** The requests and responses of a provider. Pure. */
interface Provider {
  /** Requests an answer in the shape of `schema` by the method `form`. */
  request(task: JudgeTask, prompt: Prompt, schema: Json, form: JsonForm): ProviderRequest
  /** Never throws, whatever the body. */
  read(body: unknown): ProviderReply
}

const TOOL = 'verdict'
// Sampling parameters are refused since this version, whatever their value.
const ANTHROPIC_VERSION = '2026-10-21'

/** By `stop_reason` of Anthropic and `finish_reason` of OpenAI. */
const ENDINGS: Readonly<Record<string, ProviderReply['ending']>> = {
  max_tokens: 'truncated',
  model_context_window_exceeded: 'truncated',
  length: 'truncated',
  refusal: 'refused',
  content_filter: 'refused',
}

/** `POST /v1/messages` of Anthropic. */
const anthropic: Provider = {
  request({ judge, effort, max_output_tokens }, prompt, schema, form) {
    // Without a JSON mode, only the prompt asks for JSON.
    const config = {
      ...(form === 'json_schema' && { format: { type: 'json_schema', schema } }),
      ...(effort !== undefined && { effort }),
    }
    return {
      url: `${judge.base_url}/v1/messages`,
      headers: {
        'anthropic-version': ANTHROPIC_VERSION,
        ...(judge.key !== null && { 'x-api-key': judge.key }),
      },
      body: {
        model: judge.model,
        max_tokens: max_output_tokens,
        system: prompt.system,
        messages: [{ role: 'user', content: prompt.user }],
        ...(Object.keys(config).length > 0 && { output_config: config }),
        ...(form === 'tool' && {
          tools: [{ name: TOOL, description: 'Gives the verdict.', input_schema: schema }],
          tool_choice: { type: 'tool', name: TOOL },
        }),
      },
    }
  },
  read(body) {
    const usage = at(body, 'usage')
    const [fresh, written] = [at(usage, 'input_tokens'), at(usage, 'output_tokens')]
    const cached = TokenCount.parse(at(usage, 'cache_read_input_tokens')) ?? 0
    const created = TokenCount.parse(at(usage, 'cache_creation_input_tokens')) ?? 0
    const blocks = listAt(body, 'content')
    const call = blocks.find((one) => at(one, 'type') === 'tool_use' && at(one, 'name') === TOOL)
    const texts = blocks.filter((one) => at(one, 'type') === 'text')
    return {
      ending: ENDINGS[textAt(body, 'stop_reason') ?? ''] ?? 'complete',
      answer: at(call, 'input') ?? (texts.map((one) => textAt(one, 'text')).join('') || null),
      // Anthropic counts cached input separately from `input_tokens`; it is included here.
      usage: usageOf(fresh, written, cached, cached + created),
    }
  },
}

const tool = { name: TOOL, strict: true }
/** The members that request JSON in each form. */
const OPENAI_FORMS: Readonly<Record<JsonForm, (schema: Json) => Json>> = {
  json_object: () => ({ response_format: { type: 'json_object' } }),
  json_schema: (schema) => ({
    response_format: { type: 'json_schema', json_schema: { ...tool, schema } },
  }),
  tool: (schema) => ({
    tools: [{ type: 'function', function: { ...tool, parameters: schema } }],
    tool_choice: { type: 'function', function: { name: TOOL } },
  }),
}

/** `POST /chat/completions` of OpenAI and compatible servers. */
const openaiCompatible: Provider = {
  request: ({ judge, ...task }, prompt, schema, form) => ({
    url: `${judge.base_url}/chat/completions`,
    headers: judge.key === null ? {} : { authorization: `Bearer ${judge.key}` },
    body: {
      model: judge.model,
      messages: [
        { role: 'system', content: prompt.system },
        { role: 'user', content: prompt.user },
      ],
      ...OPENAI_FORMS[form](schema),
      [judge.max_tokens_field ?? 'max_completion_tokens']: task.max_output_tokens,
      ...(task.temperature !== undefined && { temperature: task.temperature }),
      ...(task.effort !== undefined && { reasoning_effort: task.effort }),
    },
  }),
  read(body) {
    const usage = at(body, 'usage')
    const cached = TokenCount.parse(at(usage, 'prompt_tokens_details', 'cached_tokens')) ?? 0
    const choice = at(body, 'choices', 0)
    const message = at(choice, 'message')
    const call = listAt(message, 'tool_calls').find((one) => at(one, 'function', 'name') === TOOL)
    const isRefused = textAt(message, 'refusal') !== null
    return {
      ending:
        ENDINGS[textAt(choice, 'finish_reason') ?? ''] ?? (isRefused ? 'refused' : 'complete'),
      answer: textAt(call, 'function', 'arguments') ?? textAt(message, 'content'),
      usage: usageOf(at(usage, 'prompt_tokens'), at(usage, 'completion_tokens'), cached),
    }
  },
}

export const PROVIDERS = { anthropic, openai_compatible: openaiCompatible }

/** A member of a JSON value of any shape. */
const at = (value: unknown, ...path: readonly (string | number)[]): unknown =>
  path.reduce<unknown>((found, key) => (found as Json | null | undefined)?.[key], value)

// A value of another type counts as missing.
const Text = z.string().min(1).nullable().catch(null)
const List = z.array(z.unknown()).catch([])
const textAt = (value: unknown, ...path: readonly string[]) => Text.parse(at(value, ...path))
const listAt = (value: unknown, name: string) => List.parse(at(value, name))

/** The usage of a call; null without valid counts. `more` input is not part of `fresh`. */
function usageOf(fresh: unknown, written: unknown, cached: number, more = 0): TokenUsage | null {
  const [counted, output] = [TokenCount.parse(fresh), TokenCount.parse(written)]
  if (counted === null || output === null) return null
  const input = counted + more
  return { input, output, cached: Math.min(cached, input) }
}
