import type { Caller, Principal } from './caller.ts'

/** Returns true if the key still has the rights that it had when the request was admitted. */
export const isSameRight = (before: Caller, now: Caller | null | undefined): boolean =>
  now != null &&
  (now === before || (now.plan === before.plan && isSameReach(before.principal, now.principal)))

const isSameReach = (before: Principal, now: Principal): boolean =>
  before.type === 'credential'
    ? now.type === 'credential' && now.scopes.join() === before.scopes.join()
    : now.type === before.type && now.role === before.role
