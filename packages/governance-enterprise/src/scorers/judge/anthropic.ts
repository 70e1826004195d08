import { z } from 'zod'
import { tokenCount } from './usage.ts'
import type { TokenUsage } from './usage.ts'
import type { ProviderQuestion, ProviderReply, WireFormat } from './wire.ts'

const TOOL = 'verdict'
// Sampling parameters are refused since this version, whatever their value.
const API_VERSION = '2026-10-21'

const Body = z.object({
  content: z.array(z.looseObject({ type: z.string() })),
  stop_reason: z.string().nullish(),
})
const TextBlock = z.object({ type: z.literal('text'), text: z.string() })
const ToolBlock = z.object({
  type: z.literal('tool_use'),
  name: z.literal(TOOL),
  input: z.record(z.string(), z.unknown()),
})

const UsageBody = z.object({
  usage: z.object({
    input_tokens: z.unknown(),
    output_tokens: z.unknown(),
    cache_read_input_tokens: z.unknown().optional(),
    cache_creation_input_tokens: z.unknown().optional(),
  }),
})

/** `POST /v1/messages` of Anthropic. */
export const anthropic: WireFormat = {
  request(question) {
    const { judge, maxOutputTokens } = question.task
    return {
      url: `${judge.baseUrl}/v1/messages`,
      headers: {
        'anthropic-version': API_VERSION,
        ...(judge.key !== null && { 'x-api-key': judge.key }),
      },
      body: {
        model: judge.model,
        max_tokens: maxOutputTokens,
        system: question.prompt.system,
        messages: [{ role: 'user', content: question.prompt.user }],
        ...formOf(question),
      },
    }
  },
  read(body) {
    const usage = usageOf(body)
    const { data } = Body.safeParse(body)
    if (!data) return { ending: 'complete', answer: null, usage }
    const call = data.content.flatMap((one) => ToolBlock.safeParse(one).data ?? [])[0]
    const texts = data.content.flatMap((one) => TextBlock.safeParse(one).data?.text ?? [])
    const answer = call?.input ?? (texts.length > 0 ? texts.join('') : null)
    return { ending: endingOf(data.stop_reason), answer, usage }
  },
}

/** Without a JSON mode, only the prompt asks for JSON. */
function formOf({ form, schema, task: { effort } }: ProviderQuestion): Record<string, unknown> {
  const format = form === 'json_schema' && { format: { type: 'json_schema', schema } }
  const config = { ...format, ...(effort !== undefined && { effort }) }
  return {
    ...(Object.keys(config).length > 0 && { output_config: config }),
    ...(form === 'tool' && {
      tools: [{ name: TOOL, description: 'Gives the verdict.', input_schema: schema }],
      tool_choice: { type: 'tool', name: TOOL },
    }),
  }
}

function endingOf(reason: string | null | undefined): ProviderReply['ending'] {
  if (reason === 'max_tokens' || reason === 'model_context_window_exceeded') return 'truncated'
  return reason === 'refusal' ? 'refused' : 'complete'
}

/** Anthropic counts cached input separately from `input_tokens`; it is included here. */
function usageOf(body: unknown): TokenUsage | null {
  const told = UsageBody.safeParse(body).data?.usage
  const fresh = tokenCount(told?.input_tokens)
  const output = tokenCount(told?.output_tokens)
  if (fresh === null || output === null) return null
  const cached = tokenCount(told?.cache_read_input_tokens) ?? 0
  const written = tokenCount(told?.cache_creation_input_tokens) ?? 0
  return { input: fresh + cached + written, output, cached }
}
