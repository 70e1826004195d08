import { loginProvider } from '@remit/contract'
import type { LoginProviderInput, LoginProvider } from '@remit/contract'
import { existing, invalid, isoTime } from '@remit/core/base'
import { implement } from '@remit/core/http'
import type { Route } from '@remit/core/http'
import { answering, receipted, recording } from '@remit/core/ledger/lanes'
import type { Change, EntryDraft } from '@remit/core/ledger/lanes'
import type { Deps } from '@remit/core/module'
import { OutboundError } from '@remit/core/net'
import { SecretUnreadable } from '@remit/core/secrets'
import type { SecretBox } from '@remit/core/secrets'
import { OUTBOUND_CALLS, Turns } from '@remit/core/threads'
import { actorOf, personOf } from '@remit/core/caller'
import type { Caller } from '@remit/core/caller'
import type { LoginWays } from '../ways.ts'
import {
  proveDomains,
  findOwnProvider,
  sealSecret,
  forgetIdentities,
  putOwnProvider,
  removeOwnProvider,
} from './store.ts'
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
      const row = existing(await findOwnProvider(db, orgId), 'login_provider_not_found')
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
        request,
        answering(providerChange(box, input, domains, id), (stored) => ({
          ...stored,
          redirect_uri: ways.redirectUri(orgId),
        })),
      )
    },

    removeLoginProvider: (_, caller, request) =>
      writer.change(caller.orgId, request, providerRemoval),
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

type Domains = OwnProvider['domains']
type Shown = Omit<LoginProvider, 'redirect_uri' | 'ledger'>

/** A provider in API and ledger form. */
const toLoginProvider = (row: OwnProvider): Shown => ({
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
function rowOf(
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

/** Sets the provider of the organization. */
const providerChange =
  (
    box: SecretBox,
    input: LoginProviderInput,
    domains: Domains,
    id: string,
  ): Change<Omit<LoginProvider, 'redirect_uri'>> =>
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
    return receipted([entryOf('set', row, caller)], toLoginProvider(row))
  }

const providerRemoval: Change<undefined> = async ({ tx, orgId }, caller) => {
  const row = existing(await findOwnProvider(tx, orgId), 'login_provider_not_found')
  await removeOwnProvider(tx, orgId)
  await forgetIdentities(tx, orgId, personIdOf(caller))
  return recording(entryOf('removed', row, caller))
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
