// Lists that forms offer: without `zod`, for browsers.
import type { Scope } from './primitives.ts'

export { reasonFacts } from './reason-facts.ts'

/** Asymmetric signature algorithms only, so that a verifier cannot sign. */
export const SIGNATURE_ALGS = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
] as const
export const PRESETS = ['github', 'gitlab', 'google', 'entra', 'kubernetes', 'spiffe'] as const

/** Scopes that a token can be exchanged for. */
export const EXCHANGEABLE = [
  'approvals:read',
  'authorize',
  'guard',
  'ledger:append',
  'ledger:read',
  'scorers',
  'trust:check',
] as const satisfies readonly Scope[]

/**
 * Default scopes of a new agent or trusted issuer: to act, wait for approvals, record, and use the
 * open checks.
 */
export const DEFAULT_SCOPES = [
  'approvals:read',
  'authorize',
  'guard',
  'ledger:append',
  'scorers',
] as const satisfies readonly Scope[]
