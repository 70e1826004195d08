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
  Impersonations,
} from '../caller/caller.ts'
