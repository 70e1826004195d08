import type { LoginProvider, LoginProviderInput } from '@remit/contract'
import { fail, invalid } from '@remit/core/base'
import { actorOf, personOf } from '@remit/core/caller'
import type { Caller } from '@remit/core/caller'
import type { Change, EntryDraft } from '@remit/core/ledger/lanes'
import type { SecretBox } from '@remit/core/secrets'
import { sealSecret } from './secret.ts'
import { findOwnProvider, forgetIdentities, putOwnProvider, removeOwnProvider } from './store.ts'
import type { OwnProvider } from './store.ts'

type Domains = OwnProvider['domains']
type Shown = Omit<LoginProvider, 'redirect_uri' | 'ledger'>

/** A provider in API and ledger form. */
export const toLoginProvider = (row: OwnProvider): Shown => ({
  issuer: row.issuer,
  client_id: row.client_id,
  has_client_secret: row.secret !== null,
  scopes: row.scopes,
  role_claim: row.role_claim,
  role_map: JSON.parse(row.role_map) as LoginProvider['role_map'],
  domains: row.domains.map(({ domain, verified }) => ({ domain, verified: verified === 1 })),
  created_at: row.created_at,
  updated_at: row.updated_at,
  updated_by: row.updated_by,
})

/** The row of an input; without a new secret, that of `before`. */
export function rowOf(
  input: LoginProviderInput,
  domains: Domains,
  given: Pick<OwnProvider, 'org_id' | 'id' | 'updated_at' | 'updated_by'>,
  { box, before }: { readonly box: SecretBox; readonly before: OwnProvider | null },
): OwnProvider {
  const { issuer, client_id, client_secret: secret, scopes, role_claim, role_map } = input
  return {
    ...given,
    issuer,
    client_id,
    secret:
      secret === undefined
        ? keptSecret(input, before)
        : secret && sealSecret(box, given.org_id, secret),
    scopes,
    role_claim,
    role_map: JSON.stringify(role_map),
    domains,
    created_at: before?.created_at ?? given.updated_at,
  }
}

/** A stored secret goes to nobody but the issuer that it was stored for. */
function keptSecret({ issuer, client_id }: LoginProviderInput, before: OwnProvider | null) {
  if (before && before.issuer === issuer && before.client_id === client_id) return before.secret
  throw invalid('client_secret', 'must be given, or null for a public client')
}

interface Given {
  readonly input: LoginProviderInput
  readonly domains: Domains
  readonly id: string
  readonly box: SecretBox
}

/** Sets the provider of the organization. */
export const providerChange =
  ({ input, domains, id, box }: Given): Change<Omit<LoginProvider, 'redirect_uri'>> =>
  async ({ tx, orgId, recordedAt }, caller) => {
    const before = await findOwnProvider(tx, orgId)
    const given = {
      org_id: orgId,
      id,
      updated_at: recordedAt,
      updated_by: actorOf(caller).id,
    }
    const row = rowOf(input, domains, given, { box, before })
    await putOwnProvider(tx, row)
    // Subjects mean something within their issuer only.
    if (before?.issuer !== row.issuer) await forgetIdentities(tx, orgId, personIdOf(caller))
    return {
      entries: [entryOf('set', row, caller)],
      reply: ([entry]) => ({
        ...toLoginProvider(row),
        ...(entry && { ledger: entry.receipt }),
      }),
    }
  }

/** Removes the provider of the organization. */
export const providerRemoval: Change<undefined> = async ({ tx, orgId }, caller) => {
  const row = await findOwnProvider(tx, orgId)
  if (!row) throw fail('login_provider_not_found')
  await removeOwnProvider(tx, orgId)
  await forgetIdentities(tx, orgId, personIdOf(caller))
  return { entries: [entryOf('removed', row, caller)], reply: () => undefined }
}

const personIdOf = (caller: Caller | null): string =>
  caller?.principal.type === 'person' ? caller.principal.id : ''

const entryOf = (
  event: 'set' | 'removed',
  row: OwnProvider,
  caller: Caller | null,
): EntryDraft => ({
  kind: `login_provider.${event}`,
  actor: actorOf(caller),
  data: { login_provider: toLoginProvider(row), ...personOf(caller) },
})
