import { generateText, hashKey } from './key-text.ts'

/** The rule of the names of operator keys, which entries name. */
export const OPERATOR_NAME = /^[a-z0-9][a-z0-9._-]{0,63}$/

const BEARER = /^Bearer +([!-~]+)$/i

/** The keys of operators: only their hashes are known. */
export interface OperatorKeys {
  /** False if the server has none. */
  readonly exist: boolean
  /** Returns the name of the key in an `Authorization` header; null for any other. */
  nameOf(header: string | undefined): string | null
}

/** `names` by the hex SHA-256 of the keys. */
export const operatorKeys = (names: ReadonlyMap<string, string>): OperatorKeys => ({
  exist: names.size > 0,
  nameOf(header) {
    const text = BEARER.exec(header ?? '')?.[1]
    // The hash of what was sent is looked up, so the timing reveals nothing about keys.
    return text === undefined ? null : (names.get(hashKey(text)) ?? null)
  },
})

/** Generates a key without storing it. */
export const generateOperatorKey = (): string => generateText('rmo_')

/** Returns the line of `REMIT_OPERATOR_KEYS_FILE` for a key. */
export const operatorKeyLine = (name: string, key: string): string => `${name} ${hashKey(key)}`
