import { token as contract, EXCHANGEABLE, TOKEN_EXCHANGE } from '@remit/contract'
import type { TokenAnswer, TokenRequest, AuthorizationServer } from '@remit/contract'
import { fail } from '@remit/core/base'
import { actorOf } from '@remit/core/caller'
import type { Caller } from '@remit/core/caller'
import { implement, metadataUrl, serverUrl } from '@remit/core/http'
import type { Route } from '@remit/core/http'
import { toClientError } from '@remit/core/ledger/lanes'
import type { Outcome } from '@remit/core/ledger/lanes'
import type { Deps } from '@remit/core/module'
import { OPERATOR, allowsKeylessExchange } from '@remit/core/orgs'
import type { Hasher } from '../credentials/hasher.ts'
import { toTrustedIssuer } from '../issuers/issuer.ts'
import type { IssuerKeys } from '../issuers/keys.ts'
import { listIssuers } from '../issuers/store.ts'
import { Buckets } from './bucket.ts'
import { issuerOf, readSubjectToken } from './subject-token.ts'
import { grant, checkRequest, organizationOf } from './grant.ts'
import type { ExchangeResult } from './grant.ts'
import { TokenRefusal } from './refusals.ts'
import type { Refusals } from './refusals.ts'
import { verify } from './verify.ts'
import type { CheckedFacts } from './verify.ts'
import { TOKEN_PATH } from '../issuers/routes.ts'

/** Exchanges per issuer and second. */
const PER_SECOND = 50

/** One response for all refused tokens: the reason is in the ledger. */
const notAccepted = () => fail('invalid_grant')

export function exchangeRoutes(
  deps: Deps & { readonly hasher: Hasher },
  keys: IssuerKeys,
  refusals: Refusals,
): Route[] {
  const { db, clock, writer, settings, planCeiling, hasher } = deps
  const buckets = new Buckets(PER_SECOND)

  async function exchange(
    orgId: string,
    caller: Caller | null,
    request: TokenRequest,
    server: string | null,
  ): Promise<TokenAnswer> {
    const seen: CheckedFacts = {}
    const origin = { ...OPERATOR, caller }
    try {
      const token = readSubjectToken(request.subject_token)
      const records = await listIssuers(db, orgId, { where: { issuer: issuerOf(token.claims) } })
      const trusted = records.map(toTrustedIssuer)
      const verified = await verify({ clock, keys, buckets }, token, trusted, seen)
      const by = caller ? actorOf(caller) : { type: 'issuer', id: verified.issuer.id }
      const granted = await writer
        .work(orgId, origin, async (scope) => {
          // The writer refuses callers, and a token without a key has none.
          if (!caller && scope.organization.isSuspended) throw fail('organization_suspended')
          return granting(grant(scope, verified, request, { by, server, hasher }))
        })
        .catch((error: unknown) => {
          throw toClientError(error)
        })
      if ('refused' in granted) throw granted.refused
      return granted
    } catch (error) {
      if (!(error instanceof TokenRefusal)) throw error
      await refusals.record(orgId, origin, error, seen)
      throw answerTo(error)
    }
  }

  return implement(contract, {
    authorizationServer: async (_, __, request) => {
      const issuer = metadataUrl(settings.baseUrl, request.url())
      if (issuer === null)
        throw fail('not_found', 'Token exchange requires an https URL in REMIT_BASE_URL')
      return metadataOf(issuer, await allowsKeylessExchange(db, planCeiling))
    },

    exchangeToken: async ({ body }, caller, request) => {
      checkRequest(body)
      const orgId = caller?.orgId ?? (await organizationOf(deps, body))
      if (orgId === null) throw notAccepted()
      return exchange(orgId, caller, body, serverUrl(settings.baseUrl, request.url()))
    },
  })
}

/** A refusal is a result of the work, not a failure: it has written nothing. */
async function granting(
  work: Promise<ExchangeResult>,
): Promise<Outcome<TokenAnswer | { readonly refused: TokenRefusal }>> {
  try {
    const { answer, entries } = await work
    return { entries, reply: () => answer }
  } catch (error) {
    if (!(error instanceof TokenRefusal)) throw error
    return { entries: [], reply: () => ({ refused: error }) }
  }
}

/** Only the holder of a valid token gets details. */
function answerTo({ reason }: TokenRefusal): Error {
  if (reason === 'scope') return fail('invalid_scope')
  if (reason === 'target') return fail('invalid_target')
  if (reason === 'rate') return tooMany(1)
  if (reason === 'subject_rate' || reason === 'limit') return tooMany(60)
  return notAccepted()
}

const tooMany = (seconds: number) =>
  fail('rate_limited', 'Too many exchanges', { headers: { 'Retry-After': String(seconds) } })

const WITH_SECRET = ['client_secret_basic', 'client_secret_post'] as const

/** `keyless`: some organization accepts tokens without an ingest key. */
const metadataOf = (issuer: string, keyless: boolean): AuthorizationServer => ({
  issuer,
  token_endpoint: `${issuer}${TOKEN_PATH}`,
  token_endpoint_auth_methods_supported: [...WITH_SECRET, ...(keyless ? (['none'] as const) : [])],
  grant_types_supported: [TOKEN_EXCHANGE],
  // Required, but a list without elements must be left out (RFC 8414 §3.2); there is no authorization endpoint.
  response_types_supported: ['none'],
  scopes_supported: [...EXCHANGEABLE],
  introspection_endpoint: `${issuer}/v1/identity/introspect`,
  introspection_endpoint_auth_methods_supported: [...WITH_SECRET],
  revocation_endpoint: `${issuer}/v1/identity/revoke`,
  revocation_endpoint_auth_methods_supported: [...WITH_SECRET],
})
