import type { PersonRole } from '@remit/contract'
import { upTo } from '@remit/core/base'
import type { Deps, OidcSettings } from '@remit/core/module'
import { createOutbound } from '@remit/core/net'
import type { Outbound } from '@remit/core/net'
import { LRUCache } from 'lru-cache'
import { openSecret, findOwnProvider } from './own/store.ts'
import type { OwnProvider } from './own/store.ts'
import { IdentityProvider } from './provider.ts'

/** A way to sign in: the provider of the server, or that of one organization. */
export interface LoginWay {
  readonly provider: IdentityProvider
  readonly roleMap: ReadonlyMap<string, PersonRole> | null
  /** Id or name of the only organization to sign in to; null for those that know the identity. */
  readonly organization: string | null
  /** Id of the stored provider; null for that of the server. */
  readonly id: string | null
  /** The domains of accepted addresses; null for all. */
  readonly domains: ReadonlySet<string> | null
}

const MAX_CACHED = 500

/** Finds the way to sign in to an organization; keeps the metadata of providers. */
export class LoginWays {
  /** The provider of the settings; null without one. */
  readonly server: LoginWay | null
  readonly #deps: Deps
  readonly #own = new LRUCache<string, LoginWay>(upTo(MAX_CACHED))

  constructor(deps: Deps) {
    this.#deps = deps
    const { oidc } = deps.settings
    this.server = oidc
      ? {
          provider: new IdentityProvider(oidc, outboundFor(oidc, deps.outbound), () =>
            this.redirectUri(null),
          ),
          roleMap: oidc.roleMap,
          organization: oidc.organization,
          id: null,
          domains: null,
        }
      : null
  }

  /** The page that receives the codes of one provider only: no other one can send its codes there. */
  redirectUri(orgId: string | null): string {
    const path = orgId === null ? '/console/callback' : `/console/callback/${orgId}`
    return new URL(path, this.#deps.sessions.place.origins[0]).href
  }

  /** Returns the way of an organization with its own provider; null where it has none. */
  async ofOrganization(orgId: string): Promise<LoginWay | null> {
    const row = await findOwnProvider(this.#deps.db, orgId)
    if (!row) return null
    const known = this.#own.get(row.id)
    if (known) return known
    const way = this.#create(row)
    this.#own.set(row.id, way)
    return way
  }

  /** Rejects with an `Error` unless the metadata of a provider can be read. */
  async check(row: OwnProvider): Promise<void> {
    await this.#create(row).provider.check()
  }

  #create(row: OwnProvider): LoginWay {
    const { secrets, outbound } = this.#deps
    const settings = {
      issuer: row.issuer,
      clientId: row.client_id,
      clientSecret: openSecret(secrets, row),
      scopes: row.scopes,
      roleClaim: row.role_claim,
      // The outbound client decides.
      allowLoopback: true,
    }
    const roleMap = roleMapOf(row)
    return {
      provider: new IdentityProvider(settings, outbound, () => this.redirectUri(row.org_id)),
      roleMap: roleMap.size > 0 ? roleMap : null,
      organization: row.org_id,
      id: row.id,
      domains: row.domains.length > 0 ? new Set(row.domains.map(({ domain }) => domain)) : null,
    }
  }
}

/** The roles by group of a stored provider; none if roles are given by invitation. */
export const roleMapOf = ({
  role_map,
}: Pick<OwnProvider, 'role_map'>): ReadonlyMap<string, PersonRole> =>
  new Map(
    (JSON.parse(role_map) as { group: string; role: PersonRole }[]).map(({ group, role }) => [
      group,
      role,
    ]),
  )

/** The operator chose the provider, so it may be on a private network; others' targets may not. */
const outboundFor = ({ allowPrivate, allowLoopback }: OidcSettings, outbound: Outbound): Outbound =>
  allowPrivate ? createOutbound({ allowPrivate, allowLoopback }) : outbound
