export {
  SYSTEM,
  actorOf,
  personOf,
  ownAgent,
  isOwn,
  actAs,
  withAgent,
  refuseAgents,
} from '../caller/caller.ts'
export type {
  Caller,
  Principal,
  KeyPrincipal,
  PersonPrincipal,
  CredentialPrincipal,
} from '../caller/caller.ts'
export type { Impersonations } from '../caller/caller.ts'
