import type { Actor } from '@remit/contract'
import type { Caller } from './caller.ts'

/** The server itself: its boot, its command line, its background work. */
export const SYSTEM = { type: 'system', id: 'remit' } as const

/** Returns the actor of an entry: the key or credential, or the system for operators. */
export const actorOf = (caller: Caller | null): Actor =>
  caller ? { type: caller.principal.type, id: caller.principal.id } : SYSTEM

/** Returns the person of the key, for the data of an entry. */
export const personOf = (caller: Caller | null): { person?: string } =>
  caller?.principal.person ? { person: caller.principal.person } : {}
