/** The guard in front of a model: texts of tools and documents are checked before they are read. */
import { RemitError } from '@remit/contract/client'
import type { Client } from '@remit/contract/client'
import { isRefusal } from './errors.ts'

type Request = Parameters<Client['checkContent']>[0]['body']
type Settings = Pick<
  Request,
  'agent_id' | 'allow' | 'canaries' | 'checks' | 'sensitivity' | 'session_id'
>

export interface GuardOptions extends Readonly<Settings> {
  readonly client: Client
  /** Milliseconds for a check with all attempts; 10,000 unless given. */
  readonly timeoutMs?: number
}

export interface CheckOptions {
  /** The author of the text; `tool` unless given. */
  readonly source?: Request['source']
  /** `output` for a text that a model wrote. */
  readonly direction?: Request['direction']
  readonly signal?: AbortSignal
}

export type GuardVerdict =
  /** The text can be passed on: as it was given, or without secrets and personal data. */
  | { readonly kind: 'pass'; readonly text: string; readonly reasons: readonly string[] }
  | { readonly kind: 'blocked'; readonly message: string; readonly reasons: readonly string[] }

const TIMEOUT_MS = 10_000

/** See `createGuard`. */
export class Guard {
  readonly #options: GuardOptions

  constructor(options: GuardOptions) {
    this.#options = options
  }

  /**
   * The verdict on a text. A text that cannot be checked is blocked. Rejects only with the reason of
   * `signal`.
   */
  async check(
    content: string,
    { source = 'tool', direction = 'input', signal }: CheckOptions = {},
  ): Promise<GuardVerdict> {
    const { client, timeoutMs = TIMEOUT_MS, ...settings } = this.#options
    signal?.throwIfAborted()
    try {
      const { action, redacted, reasons } = await client.checkContent({
        body: { ...settings, content, source, direction },
        timeoutMs,
        ...(signal && { signal }),
      })
      if (action === 'allow') return { kind: 'pass', text: content, reasons }
      if (action === 'redact' && typeof redacted === 'string')
        return { kind: 'pass', text: redacted, reasons }
      return blocked(reasons)
    } catch (error) {
      signal?.throwIfAborted()
      if (!(error instanceof RemitError)) throw error
      return blocked([isRefusal(error) ? 'remit_refused' : 'remit_unavailable'])
    }
  }

  /**
   * A tool whose result is checked before a model reads it. A result that is blocked or redacted becomes a
   * text; every other one stays as it is.
   *
   * @example
   * const fetchPage = guard.wrap(({ url }: { url: string }) => fetchText(url))
   */
  wrap<Arguments extends unknown[], Result>(
    execute: (...args: Arguments) => Result | Promise<Result>,
    options: CheckOptions = {},
  ): (...args: Arguments) => Promise<Result | string> {
    return async (...args) => {
      const result = await execute(...args)
      const text = typeof result === 'string' ? result : (JSON.stringify(result) ?? '')
      const verdict = await this.check(text, options)
      if (verdict.kind === 'blocked') return verdict.message
      return verdict.text === text ? result : verdict.text
    }
  }
}

const blocked = (reasons: readonly string[]): GuardVerdict => ({
  kind: 'blocked',
  message: `Withheld by the guard of Remit (${reasons.join(', ')}).`,
  reasons,
})

/**
 * Checks texts with `POST /v1/guard`, which the community edition has too.
 *
 * @example
 * const guard = createGuard({ client, sensitivity: 'high' })
 * const verdict = await guard.check(page, { source: 'document' })
 */
export const createGuard = (options: GuardOptions): Guard => new Guard(options)
