import { base64url } from '@remit/contract/fit'

/** 128 random bits; unlike `crypto.randomUUID`, also outside secure contexts. */
export const randomId = (): string => base64url(crypto.getRandomValues(new Uint8Array(16)))

let prefix: string | undefined
let made = 0

/** An id that no other process has; cheaper than a random one. */
export const nextId = (): string => `${(prefix ??= randomId())}.${made++}`
