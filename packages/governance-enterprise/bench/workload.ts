import type { AuthorizeRequest } from '@remit/contract'

/** A rule as plain data that every engine translates. */
export interface PlainRule {
  readonly effect: 'allow' | 'deny'
  /** An agent or `*`. */
  readonly agent: string
  /** `svc.op` or `svc.*`. */
  readonly action: string
  /** The rule matches if `context.amount > above && context.currency == currency`. */
  readonly above: number
  readonly currency: string
}

export interface PlainRequest extends AuthorizeRequest {
  readonly context: { readonly amount: number; readonly currency: string }
}

const CURRENCIES = ['USD', 'EUR', 'GBP'] as const
const OPERATIONS = 5

/** The same numbers in every run. */
function randomFrom(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

/**
 * `size` rules of one organization and 2,000 requests, each about one rule: 1 in 7 denies, half are
 * for one action and half for a whole service, 1 in 10 is for all agents. The default effect is
 * deny.
 */
export function workload(size: number): {
  readonly rules: readonly PlainRule[]
  readonly requests: readonly PlainRequest[]
} {
  const random = randomFrom(size)
  const services = Math.max(1, Math.round(size / 10))
  const agents = Math.max(5, Math.round(size / 10))
  const agent = () => `agent${random(agents)}`
  const action = () => `svc${random(services)}.op${random(OPERATIONS)}`
  const currency = () => CURRENCIES[random(CURRENCIES.length)] ?? 'USD'
  const rules = Array.from({ length: size }, (_, i): PlainRule => ({
    effect: i % 7 === 0 ? 'deny' : 'allow',
    agent: i % 10 === 0 ? '*' : agent(),
    action: i % 2 === 0 ? action().replace(/\..*/, '.*') : action(),
    above: random(10_000),
    currency: currency(),
  }))
  const requests = Array.from({ length: 2_000 }, (): PlainRequest => ({
    agent_id: agent(),
    action: action(),
    context: { amount: random(12_000), currency: currency() },
  }))
  return { rules, requests }
}
