import type { Plan, Role } from '@remit/contract'

/** The authenticated key and the organization it speaks for. */
export interface Caller {
  readonly orgId: string
  /** The lower of the licence's plan and the organization's. */
  readonly plan: Plan
  readonly principal: Principal
  /** State of the organization's configuration at which all this was read. */
  readonly configVersion: number
}

/** Who calls. Agent credentials come with the identity module. */
export type Principal = {
  readonly type: 'key'
  readonly id: string
  readonly role: Role
  /** E-mail of the person the key names. */
  readonly person: string | null
}
