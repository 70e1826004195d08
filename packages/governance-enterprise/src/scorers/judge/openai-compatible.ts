import { z } from 'zod'
import { tokenCount } from './usage.ts'
import type { TokenUsage } from './usage.ts'
import type { ProviderQuestion, ProviderReply, WireFormat } from './wire.ts'

const TOOL = 'verdict'

const Body = z.object({
  choices: z
    .array(
      z.object({
        finish_reason: z.string().nullish(),
        message: z.object({
          content: z.string().nullish().catch(null),
          refusal: z.string().nullish().catch(null),
          tool_calls: z
            .array(z.object({ function: z.object({ name: z.string(), arguments: z.string() }) }))
            .nullish()
            .catch(null),
        }),
      }),
    )
    .min(1),
})

const UsageBody = z.object({
  usage: z.object({
    prompt_tokens: z.unknown(),
    completion_tokens: z.unknown(),
    prompt_tokens_details: z
      .object({ cached_tokens: z.unknown().optional() })
      .nullish()
      .catch(null),
  }),
})

/** `POST /chat/completions` of OpenAI and compatible servers. */
export const openaiCompatible: WireFormat = {
  request(question) {
    const { judge, maxOutputTokens, temperature, effort } = question.task
    return {
      url: `${judge.baseUrl}/chat/completions`,
      headers: judge.key === null ? {} : { authorization: `Bearer ${judge.key}` },
      body: {
        model: judge.model,
        messages: [
          { role: 'system', content: question.prompt.system },
          { role: 'user', content: question.prompt.user },
        ],
        ...formOf(question),
        [judge.maxTokensField]: maxOutputTokens,
        ...(temperature !== undefined && { temperature }),
        ...(effort !== undefined && { reasoning_effort: effort }),
      },
    }
  },
  read(body) {
    const usage = usageOf(body)
    const choice = Body.safeParse(body).data?.choices[0]
    if (!choice) return { ending: 'complete', answer: null, usage }
    const { content, refusal, tool_calls: calls } = choice.message
    const call = calls?.find(({ function: { name } }) => name === TOOL)
    const answer = call?.function.arguments ?? content ?? null
    return { ending: endingOf(choice.finish_reason, refusal), answer, usage }
  },
}

function formOf({ form, schema }: ProviderQuestion): Record<string, unknown> {
  if (form === 'json_object') return { response_format: { type: 'json_object' } }
  if (form === 'json_schema') {
    return {
      response_format: { type: 'json_schema', json_schema: { name: TOOL, strict: true, schema } },
    }
  }
  return {
    tools: [{ type: 'function', function: { name: TOOL, strict: true, parameters: schema } }],
    tool_choice: { type: 'function', function: { name: TOOL } },
  }
}

function endingOf(
  finish: string | null | undefined,
  refusal: string | null | undefined,
): ProviderReply['ending'] {
  if (finish === 'length') return 'truncated'
  return finish === 'content_filter' || refusal ? 'refused' : 'complete'
}

function usageOf(body: unknown): TokenUsage | null {
  const told = UsageBody.safeParse(body).data?.usage
  const input = tokenCount(told?.prompt_tokens)
  const output = tokenCount(told?.completion_tokens)
  if (input === null || output === null) return null
  const cached = tokenCount(told?.prompt_tokens_details?.cached_tokens) ?? 0
  return { input, output, cached: Math.min(cached, input) }
}
