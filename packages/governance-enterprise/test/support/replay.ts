import type { Entry } from '@remit/contract'

interface Limit {
  readonly hourly_usd: number | null
  readonly daily_usd: number | null
  readonly monthly_usd: number | null
  readonly on_missing_amount: string
}

interface Hold {
  readonly agent: string
  readonly hour: string
  readonly micro: number
  readonly expires: string | null
  isOpen: boolean
}

interface Decided {
  readonly decision_id: string
  readonly context: { readonly amount_usd?: unknown }
  readonly hold?: { readonly usd: number; readonly expires_at: string | null }
}

const micro = (usd: number): number => Math.round(usd * 1e6)

/**
 * Spend as it follows from the entries of a ledger and nothing else: no totals, no caches, one entry
 * after the other. `faults` names every decision that does not follow from the entries before it.
 */
export class Replay {
  readonly faults: string[] = []
  readonly #limits = new Map<string, Limit>()
  readonly #holds = new Map<string, Hold>()
  readonly #spent: { agent: string; hour: string; micro: number }[] = []

  take(entry: Entry): void {
    if (entry.kind === 'spend_limit.set') {
      this.#limits.set(String(entry.agent_id), entry.data?.['spend_limit'] as Limit)
    }
    if (entry.kind === 'spend_limit.removed') this.#limits.delete(String(entry.agent_id))
    if (entry.kind === 'authorization.decided') this.#decided(entry)
    if (entry.kind === 'entry.appended') this.#appended(entry)
  }

  /** Micro-USD of an agent in a window (`2026-11-20T08`, `2026-11-20` or `2026-11`) as of a time. */
  usage(agent: string, window: string, now: string): { spent: number; held: number } {
    const spent = this.#spent.filter((one) => one.agent === agent && one.hour.startsWith(window))
    const held = [...this.#holds.values()].filter(
      (hold) =>
        hold.agent === agent &&
        hold.hour.startsWith(window) &&
        hold.isOpen &&
        (hold.expires === null || hold.expires > now),
    )
    const sum = (rows: readonly { micro: number }[]) =>
      rows.reduce((total, row) => total + row.micro, 0)
    return { spent: sum(spent), held: sum(held) }
  }

  #decided({ seq, agent_id, decision, reason, data, recorded_at }: Entry): void {
    const { decision_id, context, hold } = data as unknown as Decided
    const agent = String(agent_id)
    const expected = this.#expected(agent, context.amount_usd, recorded_at)
    const actual = decision === 'allow' ? 'allow' : reason
    if (actual !== expected) this.faults.push(`${seq}: ${actual} instead of ${expected}`)
    if (decision !== 'allow') return
    this.#holds.set(decision_id, {
      agent,
      hour: recorded_at.slice(0, 13),
      micro: micro(hold?.usd ?? 0),
      expires: hold?.expires_at ?? null,
      isOpen: true,
    })
  }

  #expected(agent: string, amount: unknown, now: string): string {
    const limit = this.#limits.get(agent)
    if (!limit) return 'allow'
    if (amount === undefined && limit.on_missing_amount === 'deny') return 'amount_invalid'
    if (amount !== undefined && typeof amount !== 'number') return 'amount_invalid'
    const caps = [
      ['spend_limit_hourly', limit.hourly_usd, now.slice(0, 13)],
      ['spend_limit_daily', limit.daily_usd, now.slice(0, 10)],
      ['spend_limit_monthly', limit.monthly_usd, now.slice(0, 7)],
    ] as const
    for (const [reason, cap, window] of caps) {
      if (cap === null) continue
      const { spent, held } = this.usage(agent, window, now)
      const isOver =
        amount === undefined
          ? spent + held >= micro(cap)
          : spent + held + micro(amount) > micro(cap)
      if (cap === 0 || isOver) return reason
    }
    return 'allow'
  }

  #appended({ agent_id, actor, data, recorded_at }: Entry): void {
    const cost = data?.['cost_usd']
    if (typeof cost !== 'number') return
    const hour = recorded_at.slice(0, 13)
    const hold = this.#holds.get(String(data?.['decision_id']))
    if (!hold) {
      this.#spent.push({ agent: agent_id ?? actor?.id ?? '', hour, micro: micro(cost) })
      return
    }
    const keeps = hold.expires === null || hold.expires > recorded_at ? hold.micro : 0
    const captured = Math.min(micro(cost), keeps)
    this.#spent.push({ agent: hold.agent, hour: hold.hour, micro: captured })
    this.#spent.push({ agent: hold.agent, hour, micro: micro(cost) - captured })
    hold.isOpen = false
  }
}
