import { anthropic } from './anthropic.ts'
import type { Form, Judge } from './judges.ts'
import { openaiCompatible } from './openai-compatible.ts'
import type { Prompt } from './prompt.ts'
import type { Task } from './task.ts'
import type { Usage } from './usage.ts'

/** One question to a judge. */
export interface Question {
  readonly task: Task
  readonly prompt: Prompt
  readonly schema: Readonly<Record<string, unknown>>
  readonly form: Form
}

export interface WireRequest {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Readonly<Record<string, unknown>>
}

/** The response of a provider with status 200. */
export interface Reply {
  readonly ending: 'complete' | 'truncated' | 'refused'
  /** JSON text or an object; null for a response without an answer in the provider's shape. */
  readonly answer: string | Readonly<Record<string, unknown>> | null
  /** Null if missing or invalid. */
  readonly usage: Usage | null
}

/** The requests and responses of a provider. Pure. */
export interface WireFormat {
  request(question: Question): WireRequest
  /** Never throws, whatever the body. */
  read(body: unknown): Reply
}

export const wireOf = ({ provider }: Judge): WireFormat =>
  provider === 'anthropic' ? anthropic : openaiCompatible
