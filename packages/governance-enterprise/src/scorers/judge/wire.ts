import { anthropic } from './anthropic.ts'
import type { JsonForm, Judge } from './judges.ts'
import { openaiCompatible } from './openai-compatible.ts'
import type { Prompt } from './prompt.ts'
import type { JudgeTask } from './task.ts'
import type { TokenUsage } from './usage.ts'

/** One question to a judge. */
export interface ProviderQuestion {
  readonly task: JudgeTask
  readonly prompt: Prompt
  readonly schema: Readonly<Record<string, unknown>>
  readonly form: JsonForm
}

export interface WireRequest {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Readonly<Record<string, unknown>>
}

/** The response of a provider with status 200. */
export interface ProviderReply {
  readonly ending: 'complete' | 'truncated' | 'refused'
  /** JSON text or an object; null for a response without an answer in the provider's shape. */
  readonly answer: string | Readonly<Record<string, unknown>> | null
  /** Null if missing or invalid. */
  readonly usage: TokenUsage | null
}

/** The requests and responses of a provider. Pure. */
export interface WireFormat {
  request(question: ProviderQuestion): WireRequest
  /** Never throws, whatever the body. */
  read(body: unknown): ProviderReply
}

export const wireOf = ({ provider }: Judge): WireFormat =>
  provider === 'anthropic' ? anthropic : openaiCompatible
