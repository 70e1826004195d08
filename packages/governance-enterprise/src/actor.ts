import type { Caller } from '@remit/core'

/** Who is named in the entry of a change: the key, or the server's operator. */
export const actorOf = (caller: Caller | null): { type: string; id: string } =>
  caller
    ? { type: caller.principal.type, id: caller.principal.id }
    : { type: 'system', id: 'remit' }

/** The person that the key names, for the entry's data. */
export const personOf = (caller: Caller | null): { person?: string } =>
  caller?.principal.person ? { person: caller.principal.person } : {}
