import { z } from 'zod'
import type { JsonForm, Judge } from './judges.ts'
import type { JudgeTask } from './params.ts'
import type { Prompt } from './prompt.ts'
import { tokenCount } from './usage.ts'
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
  /** JSON text or an object; null for a response without an answer in the provider's shape. */
  readonly answer: string | Json | null
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

const Usage = z.object({ usage: z.looseObject({}) })
const Text = z.string().nullish()

const usageIn = (body: unknown): Json => Usage.safeParse(body).data?.usage ?? {}

function usageOf(input: unknown, output: unknown, cached: unknown, added = 0): TokenUsage | null {
  const [all, written] = [tokenCount(input), tokenCount(output)]
  if (all === null || written === null) return null
  const total = all + added
  return { input: total, output: written, cached: Math.min(tokenCount(cached) ?? 0, total) }
}

const AnthropicBody = z.object({
  content: z.array(z.looseObject({ type: z.string() })),
  stop_reason: Text,
})
const TextBlock = z.object({ type: z.literal('text'), text: z.string() })
const ToolBlock = z.object({
  type: z.literal('tool_use'),
  name: z.literal(TOOL),
  input: z.record(z.string(), z.unknown()),
})

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
    const told = usageIn(body)
    // Anthropic counts cached input separately from `input_tokens`; it is included here.
    const cached = tokenCount(told['cache_read_input_tokens']) ?? 0
    const created = tokenCount(told['cache_creation_input_tokens']) ?? 0
    const usage = usageOf(told['input_tokens'], told['output_tokens'], cached, cached + created)
    const { data } = AnthropicBody.safeParse(body)
    if (!data) return { ending: 'complete', answer: null, usage }
    const call = data.content.flatMap((one) => ToolBlock.safeParse(one).data ?? [])[0]
    const texts = data.content.flatMap((one) => TextBlock.safeParse(one).data?.text ?? [])
    const answer = call?.input ?? (texts.length > 0 ? texts.join('') : null)
    return { ending: ANTHROPIC_ENDINGS[data.stop_reason ?? ''] ?? 'complete', answer, usage }
  },
}

const ANTHROPIC_ENDINGS: Readonly<Record<string, ProviderReply['ending']>> = {
  max_tokens: 'truncated',
  model_context_window_exceeded: 'truncated',
  refusal: 'refused',
}

const Call = z.object({ function: z.object({ name: z.string(), arguments: z.string() }) })
const Message = z.object({
  content: Text.catch(null),
  refusal: Text.catch(null),
  tool_calls: z.array(Call).nullish().catch(null),
})
const OpenAiBody = z.object({
  choices: z.array(z.object({ finish_reason: Text, message: Message })).min(1),
})
const Details = z.looseObject({}).catch({})

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
    const told = usageIn(body)
    const { cached_tokens: cached } = Details.parse(told['prompt_tokens_details'])
    const usage = usageOf(told['prompt_tokens'], told['completion_tokens'], cached)
    const choice = OpenAiBody.safeParse(body).data?.choices[0]
    if (!choice) return { ending: 'complete', answer: null, usage }
    const { content, refusal, tool_calls: calls } = choice.message
    const call = calls?.find(({ function: { name } }) => name === TOOL)
    const isRefused = choice.finish_reason === 'content_filter' || Boolean(refusal)
    return {
      ending: choice.finish_reason === 'length' ? 'truncated' : isRefused ? 'refused' : 'complete',
      answer: call?.function.arguments ?? content ?? null,
      usage,
    }
  },
}

const PROVIDERS = { anthropic, openai_compatible: openaiCompatible }

export const providerOf = ({ provider }: Judge): Provider => PROVIDERS[provider]
