import { loginProvider } from '@remit/contract'
import type { LoginProviderInput } from '@remit/contract'
import { fail, invalid, isoTime } from '@remit/core/base'
import { implement } from '@remit/core/http'
import type { Route } from '@remit/core/http'
import { answering } from '@remit/core/ledger/lanes'
import type { Deps } from '@remit/core/module'
import { OutboundError } from '@remit/core/net'
import { SecretUnreadable } from '@remit/core/secrets'
import { OUTBOUND_CALLS, Turns } from '@remit/core/threads'
import type { LoginWays } from '../ways.ts'
import { providerChange, providerRemoval, rowOf, toLoginProvider } from './changes.ts'
import { proveDomains } from './domains.ts'
import { findOwnProvider } from './store.ts'
import type { OwnProvider } from './store.ts'

export const loginProviderRoutes = (deps: Deps, ways: LoginWays): Route[] => {
  const { db, ids, clock, outbound, secrets: box, writer } = deps
  /** Reads the metadata before the transaction; 400 with the reason if that fails. */
  const check = async (orgId: string, input: LoginProviderInput, id: string) => {
    const target = outbound.checkTarget(input.issuer, { query: false })
    if ('refused' in target) throw invalid('issuer', target.refused)
    const before = await findOwnProvider(db, orgId)
    const given = { org_id: orgId, id, updated_at: isoTime(clock.now()), updated_by: '' }
    await readable(ways, rowOf(input, [], given, { box, before }))
  }
  const checks = new Turns(OUTBOUND_CALLS)
  return implement(loginProvider, {
    getLoginProvider: async (_, { orgId }) => {
      const row = await findOwnProvider(db, orgId)
      if (!row) throw fail('login_provider_not_found')
      return { ...toLoginProvider(row), redirect_uri: ways.redirectUri(orgId) }
    },

    setLoginProvider: async ({ body: input }, caller, request) => {
      const { orgId } = caller
      const id = ids.next('lgp_', clock.now())
      const [domains] = await checks.run(orgId, () =>
        Promise.all([proveDomains(outbound, orgId, input.domains), check(orgId, input, id)]),
      )
      return writer.change(
        orgId,
        { ...request, caller },
        answering(providerChange({ input, domains, id, box }), (stored) => ({
          ...stored,
          redirect_uri: ways.redirectUri(orgId),
        })),
      )
    },

    removeLoginProvider: (_, caller, request) =>
      writer.change(caller.orgId, { ...request, caller }, providerRemoval),
  })
}

async function readable(ways: LoginWays, row: OwnProvider): Promise<void> {
  try {
    await ways.check(row)
  } catch (error) {
    if (error instanceof SecretUnreadable)
      throw invalid('client_secret', 'must be given: the stored one cannot be decrypted')
    throw invalid('issuer', `its metadata cannot be read: ${reasonOf(error)}`)
  }
}

/** Nothing that the other side sent. */
function reasonOf(error: unknown): string {
  const cause = error instanceof Error && error.cause !== undefined ? error.cause : error
  if (cause instanceof OutboundError) return cause.message
  return error instanceof OutboundError
    ? error.message
    : 'the response is not the metadata of this issuer (OpenID Connect Discovery)'
}
