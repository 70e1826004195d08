import { authorize } from './authorize.ts'
import { authzen } from './authzen.ts'
import type { Endpoint } from './endpoint.ts'
import { evaluation } from './evaluation.ts'
import { ledger } from './ledger.ts'
import { organization } from './organization.ts'
import { spendLimits } from './spend-limits.ts'

/** The whole API: every endpoint of every edition, by name. */
export const contract = {
  ...authorize,
  ...ledger,
  ...spendLimits,
  ...organization,
  ...authzen,
  ...evaluation,
}

export type Contract = typeof contract
export type EndpointName = keyof Contract

/** The same table for code that walks over it. */
export const endpoints: Readonly<Record<string, Endpoint>> = contract
