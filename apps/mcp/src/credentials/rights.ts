import { RemitError } from '@remit/contract/client'
import type { Client } from '@remit/contract/client'
import type { Session } from '@remit/contract'

/** Requests of a gateway to Remit, by the scope that a credential needs for them. */
const NEEDED = { authorize: 'POST /v1/authorize', guard: 'POST /v1/guard' } as const
type NeededScope = keyof typeof NEEDED

/** The scope that a credential lacks, of those that it has; null for none. Pure. */
export function missingScope(scopes: readonly string[], hasGuard: boolean): NeededScope | null {
  if (!scopes.includes('authorize')) return 'authorize'
  return hasGuard && !scopes.includes('guard') ? 'guard' : null
}

/** The scopes that show in what a caller may ask for. Pure. */
export const scopesIn = ({ endpoints }: Pick<Session, 'endpoints'>): NeededScope[] =>
  (['authorize', 'guard'] as const).filter((scope) => endpoints.includes(NEEDED[scope]))

interface Checked {
  readonly client: Client
  readonly url: string
  /** The results of tools are checked. */
  readonly hasGuard: boolean
  readonly warn: (text: string) => void
}

/**
 * Checks the key of a gateway at its start: a guard that may not read anything would flag every session. Rejects
 * with what to change. A Remit that cannot be reached yet is a warning, as calls fail until it can.
 */
export async function checkKey({ client, url, hasGuard, warn }: Checked): Promise<void> {
  const session = await client
    .getSession({ retries: 0, timeoutMs: 5_000 })
    .catch((error: unknown) => {
      if (!(error instanceof RemitError)) throw error
      if (error.status === 401) throw new Error(`The key in REMIT_KEY is wrong: ${url} refused it.`)
      warn(`${url} cannot be reached, and calls fail until it can (${error.message})`)
      return null
    })
  if (session === null) return
  const scope = missingScope(scopesIn(session), hasGuard)
  if (scope === null) return
  if (session.principal?.type !== 'agent')
    throw new Error(
      'The key in REMIT_KEY cannot ask for decisions: it needs the role ingest, and Remit the team plan.',
    )
  const off = scope === 'guard' ? ', or turn the guard off with results "off"' : ''
  throw new Error(`The credential in REMIT_KEY lacks the scope ${scope}: add it${off}.`)
}
