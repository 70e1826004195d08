import type { LoginProvider, LoginProviderInput, PersonRole } from '@remit/contract'
import { keptOf, linesOf } from '../rules/draft.ts'

/** The form of an identity provider: lists are texts with one item per line. */
export interface LoginDraft {
  readonly issuer: string
  readonly clientId: string
  /** Empty keeps the stored secret. */
  readonly secret: string
  readonly isPublic: boolean
  readonly scopes: string
  readonly roleClaim: string
  readonly roles: string
  readonly domains: string
  /** The stored provider, for members that the form does not show. */
  readonly kept: Partial<LoginProviderInput>
}

export const draftOf = (stored: LoginProvider | null): LoginDraft => ({
  issuer: stored?.issuer ?? '',
  clientId: stored?.client_id ?? '',
  secret: '',
  isPublic: stored?.has_client_secret === false,
  scopes: stored?.scopes ?? 'openid profile email',
  roleClaim: stored?.role_claim ?? 'groups',
  roles: (stored?.role_map ?? []).map(({ group, role }) => `${group}=${role}`).join('\n'),
  domains: (stored?.domains ?? []).map(({ domain }) => domain).join('\n'),
  kept: stored ? keptOf(stored) : {},
})

/** The body of the request; the server checks it. */
export function bodyOf(draft: LoginDraft): LoginProviderInput {
  return {
    ...draft.kept,
    issuer: draft.issuer.trim(),
    client_id: draft.clientId.trim(),
    ...(draft.isPublic
      ? { client_secret: null }
      : draft.secret !== '' && { client_secret: draft.secret }),
    scopes: draft.scopes.trim(),
    role_claim: draft.roleClaim.trim(),
    role_map: linesOf(draft.roles).map((line) => {
      const at = line.lastIndexOf('=')
      // A line without a role is refused by the server, which names it.
      const role = line.slice(at + 1).trim() as PersonRole
      return { group: line.slice(0, Math.max(at, 0)).trim(), role }
    }),
    domains: linesOf(draft.domains),
  }
}
