import type { Route } from '@remit/core/http'
import type { Deps } from '@remit/core/module'
import type { Hasher } from '../credentials/hasher.ts'
import { IssuerKeys, recordKeyFetch } from '../issuers/keys.ts'
import { issuerRoutes } from '../issuers/routes.ts'
import { Refusals } from './refusals.ts'
import { exchangeRoutes } from './routes.ts'

/** Trusted issuers and the exchange of their tokens. */
export function federationOf(
  deps: Deps,
  hasher: Hasher,
): { readonly routes: readonly Route[]; start(): void; close(): Promise<void> } {
  const keys = new IssuerKeys(deps, recordKeyFetch(deps))
  const refusals = new Refusals(deps)
  return {
    routes: [...issuerRoutes(deps, keys), ...exchangeRoutes({ ...deps, hasher }, keys, refusals)],
    start: () => refusals.start(),
    close: () => refusals.close(),
  }
}
