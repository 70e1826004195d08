import { setTimeout } from 'node:timers/promises'
import { request } from './process.ts'

/** An answer that a client received: its entry must be in the ledger. */
export interface Answered {
  readonly seq: number
  readonly hash: string
}

/** Clients that keep asking one server until it is gone or they are told to stop. */
export interface Load {
  /** Everything that was answered with a success. */
  readonly answered: Answered[]
  /** Statuses of refusals. */
  readonly refusals: Response[]
  /** Resolves when `count` more requests have been answered with a success. */
  more(count: number): Promise<void>
  stop(): Promise<void>
}

const CLIENTS = 16
const PAUSE_MS = 10

/** Each client asks for decisions and reports what some of them cost. */
export function startLoad(url: string, key: string): Load {
  const answered: Answered[] = []
  const refusals: Response[] = []
  const waiting: { count: number; resolve: () => void }[] = []
  const end = new AbortController()

  const ask = async (path: string, body: object): Promise<{ decision_id?: string } | null> => {
    const response = await request(url + path, key, 'POST', body)
    if (!response.ok) {
      refusals.push(response)
      await response.arrayBuffer()
      return null
    }
    const answer = (await response.json()) as { ledger: Answered; decision_id?: string }
    answered.push(answer.ledger)
    for (const [i, { count, resolve }] of waiting.entries()) {
      if (answered.length < count) continue
      waiting.splice(i, 1)
      resolve()
    }
    return answer
  }

  const client = async (name: number) => {
    while (!end.signal.aborted) {
      try {
        const context = { amount_usd: 0.01, client: name }
        const decided = await ask('/v1/authorize', {
          agent_id: 'payer',
          action: 'payments.transfer',
          context,
        })
        // A client that is refused does not keep the machine from a restart.
        if (!decided) await setTimeout(PAUSE_MS)
        else if (name % 2 === 0) {
          const cost = {
            action: 'payments.settled',
            decision_id: decided.decision_id,
            cost_usd: 0.02,
          }
          await ask('/v1/ledger', cost)
        }
      } catch {
        // The server is gone; whether it comes back is not this client's business.
        await setTimeout(PAUSE_MS)
      }
    }
  }
  const clients = Array.from({ length: CLIENTS }, (_, i) => client(i))

  return {
    answered,
    refusals,
    more: (count) =>
      new Promise((resolve) => {
        waiting.push({ count: answered.length + count, resolve })
      }),
    async stop() {
      end.abort()
      await Promise.all(clients)
    },
  }
}
