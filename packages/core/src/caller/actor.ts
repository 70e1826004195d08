import type { Actor } from '@remit/contract'
import type { Caller } from './caller.ts'

/** The server itself: its boot, its command line, its background work. */
export const SYSTEM = { type: 'system', id: 'remit' } as const

/** Who is named in an entry: the key or credential, or the server's operator. */
export const actorOf = (caller: Caller | null): Actor =>
  caller ? { type: caller.principal.type, id: caller.principal.id } : SYSTEM

/** The person that the key names, for the entry's data. */
export const personOf = (caller: Caller | null): { person?: string } =>
  caller?.principal.person ? { person: caller.principal.person } : {}
