import { issuers } from '@remit/contract'
import type { IssuerTerms } from '@remit/contract'
import { existing, fail, invalid, isoTime, pageOf } from '@remit/core/base'
import { actorOf, personOf } from '@remit/core/caller'
import { implement, Reply, serverUrl } from '@remit/core/http'
import type { Route } from '@remit/core/http'
import { receipted } from '@remit/core/ledger/lanes'
import type { Deps } from '@remit/core/module'
import type { Outbound } from '@remit/core/net'
import { OUTBOUND_CALLS, Turns } from '@remit/core/threads'
import { furtherRevoked, IDS_AN_ENTRY, revokeCredentials } from '../base/revoke-credentials.ts'
import { toIssuer } from './issuer.ts'
import { keySetOf, KeySetError } from './jwks.ts'
import type { IssuerKeys } from './keys.ts'
import { termsOf } from './presets.ts'
import type { TrustedIssuerRow } from '../tables/issuers.ts'
import { countIssuers, deleteIssuer, insertIssuer, listIssuers } from './store.ts'

const MAX_ISSUERS = 100

export const TOKEN_PATH = '/v1/identity/token'

export const issuerRoutes = (
  { db, ids, clock, writer, outbound, settings }: Deps,
  keys: IssuerKeys,
): Route[] => {
  const fetches = new Turns(OUTBOUND_CALLS)
  return implement(issuers, {
    listIssuers: ({ query }, { orgId }) =>
      pageOf(query.limit, {
        read: (limit) => listIssuers(db, orgId, { limit, after: query.cursor }),
        cursor: ({ id }) => id,
        items: (rows) => rows.map(toIssuer),
      }),

    trustIssuer: async ({ body, query }, caller, request) => {
      const server = serverUrl(settings.baseUrl, request.url())
      const terms = termsOf(body, server && `${server}${TOKEN_PATH}`)
      checkKeySource(terms, outbound)
      if (query.validate === 'true')
        return new Reply({ valid: true, errors: [], warnings: [] }, { status: 200 })
      const id = ids.next('idp_', clock.now())
      const { issuer } = terms
      const question = { orgId: caller.orgId, id, issuer, terms }
      const found = await fetches.run(caller.orgId, () => keys.look(question))
      const looked: Pick<TrustedIssuerRow, 'key_count' | 'fetched_at' | 'fetch_error'> = {
        key_count: found.keys.size,
        fetched_at: found.fetchedAt === null ? null : isoTime(found.fetchedAt),
        fetch_error: found.error,
      }
      return writer.change(caller.orgId, request, async ({ tx, orgId, recordedAt }, admitted) => {
        if ((await countIssuers(tx, orgId)) >= MAX_ISSUERS) throw fail('too_many_issuers')
        const row: TrustedIssuerRow = {
          org_id: orgId,
          id,
          issuer,
          terms: JSON.stringify(terms),
          created_at: recordedAt,
          created_by: actorOf(admitted).id,
          ...looked,
        }
        if (!(await insertIssuer(tx, row, terms.audiences))) throw fail('issuer_exists')
        const record = toIssuer(row)
        const data = { issuer: record, ...personOf(admitted) }
        return receipted([{ kind: 'issuer.trusted', actor: actorOf(admitted), data }], record)
      })
    },

    removeIssuer: ({ params: { idpID: id } }, caller, request) =>
      writer.change(caller.orgId, request, async (scope, admitted) => {
        const row = existing(await deleteIssuer(scope.tx, scope.orgId, id), 'issuer_not_found')
        const revoked = await revokeCredentials(
          scope.tx,
          scope.orgId,
          { idp_id: id },
          { at: scope.recordedAt, by: actorOf(admitted).id },
        )
        return {
          entries: [
            {
              kind: 'issuer.removed',
              actor: actorOf(admitted),
              data: {
                issuer: toIssuer(row),
                revoked_credentials: revoked.slice(0, IDS_AN_ENTRY),
                ...personOf(admitted),
              },
            },
            ...furtherRevoked(revoked, {
              actor: actorOf(admitted),
              data: { idp_id: id, cause: 'issuer_removed', ...personOf(admitted) },
            }),
          ],
          reply: () => {
            keys.forget(id)
            return new Reply(undefined)
          },
        }
      }),
  })
}

/** Refuses addresses that are never fetched, and keys that cannot verify signatures. */
function checkKeySource({ issuer, jwks }: IssuerTerms, outbound: Outbound): void {
  if (jwks.type === 'inline') {
    if (inlineKeys(jwks) < new Set(jwks.keys.map((key) => JSON.stringify(key))).size)
      throw invalid(
        'jwks.keys',
        'must be public signature keys with unique kid values: RSA of 2048 to 8192 bits with e = AQAB, P-256, P-384, P-521 or Ed25519',
      )
    return
  }
  const [field, url] = jwks.type === 'url' ? ['jwks.url', jwks.url] : ['issuer', issuer]
  const check = outbound.checkTarget(url, { query: jwks.type === 'url' })
  if ('refused' in check) throw invalid(field, check.refused)
}

function inlineKeys(jwks: unknown): number {
  try {
    return keySetOf(jwks).size
  } catch (error) {
    if (error instanceof KeySetError) return 0
    throw error
  }
}
