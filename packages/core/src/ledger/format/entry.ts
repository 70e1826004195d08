import { hash, randomBytes } from 'node:crypto'
import { CanonicalJsonError, canonicalJson } from '@remit/contract/json'

/**
 * First line of every header: the format and its version; separates the hash domain from others.
 */
export const ENTRY_FORMAT = 'ledger-entry/v1'

/** First line of the input of a commitment. */
const PAYLOAD_FORMAT = 'ledger-payload/v1'

/** `prev_hash` of entry 0: 64 zeros. */
export const ZERO_HASH = '0'.repeat(64)

/** The kind of entry 0, and only of entry 0. */
export const GENESIS_KIND = 'ledger.genesis' as const

/**
 * The content of an entry. Stored as its canonical JSON text, committed to with a salt, erasable.
 */
export interface EntryPayload {
  readonly action: string | null
  readonly actor: { readonly type: string; readonly id: string }
  readonly agent_id: string | null
  readonly data: Readonly<Record<string, unknown>>
  readonly decision: string | null
  readonly reason: string | null
  readonly resource: string | null
}

/** The fields that are hashed as lines of the header and cannot be erased. */
export interface EntryHeader {
  /** 1 to 64 of `a-z0-9_-`. */
  readonly org_id: string
  /** 0-based, without gaps: the index of the leaf in the Merkle tree. */
  readonly seq: number
  /** `hash` of entry `seq - 1`; `ZERO_HASH` for entry 0. */
  readonly prev_hash: string
  /** UTC with milliseconds, `2026-11-20T08:00:00.000Z`; never earlier than the entry before. */
  readonly recorded_at: string
  /** 1 to 64 of `a-z0-9_.`. */
  readonly kind: string
  readonly commitment: string
}

/** One entry as it is stored and exported. Salt and payload are both null after an erasure. */
export interface StoredEntry extends EntryHeader {
  readonly hash: string
  /** 16 random bytes as 32 hex digits. */
  readonly salt: string | null
  readonly payload: string | null
}

/**
 * Returns the text of a payload that is committed to and stored. Throws `CanonicalJsonError` for
 * values that JSON cannot represent, so call it before the queue of the writer, not inside its
 * transaction.
 */
export function payloadText(payload: EntryPayload): string {
  const text = canonicalJson(payload)
  // The engine stores a concatenated text as a tree until it is read. This one is hashed inside
  // another one and then stored, so flattening it here avoids doing it twice.
  text.at(-1)
  return text
}

const PAYLOAD_NAMES = 'action,actor,agent_id,data,decision,reason,resource'

/** Parses a payload text, or returns null unless it is exactly the output of `payloadText`. */
export function parsePayload(text: string): EntryPayload | null {
  try {
    const value: unknown = JSON.parse(text)
    return isPayload(value) && canonicalJson(value) === text ? value : null
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof CanonicalJsonError) return null
    throw error
  }
}

function isPayload(value: unknown): value is EntryPayload {
  if (!isPlain(value) || Object.keys(value).join() !== PAYLOAD_NAMES) return false
  const { actor, data, action, agent_id, decision, reason, resource } = value
  if (!isPlain(actor) || Object.keys(actor).join() !== 'id,type') return false
  return (
    typeof actor['id'] === 'string' &&
    typeof actor['type'] === 'string' &&
    isPlain(data) &&
    [action, agent_id, decision, reason, resource].every(
      (text) => text === null || typeof text === 'string',
    )
  )
}

function isPlain(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/**
 * Returns the commitment in the header; without the salt, the payload cannot be guessed from it.
 */
export function commitmentOf(salt: string, payload: string): string {
  return hash('sha256', `${PAYLOAD_FORMAT}\n${salt}\n${payload}`, 'hex')
}

/**
 * Returns the seven lines that are hashed. The fields must keep to their alphabets (`headerFault`):
 * without newlines in them, the text parses in one way only.
 */
export function headerOf(entry: EntryHeader): string {
  return `${ENTRY_FORMAT}\n${entry.org_id}\n${entry.seq}\n${entry.prev_hash}\n${entry.recorded_at}\n${entry.kind}\n${entry.commitment}\n`
}

/**
 * Returns the hash of an entry from its header. The zero byte makes it the RFC 6962 leaf hash of
 * the header too, so one hash serves the chain and the Merkle tree.
 */
export function entryHash(header: string): string {
  return hash('sha256', `\0${header}`, 'hex')
}

/** Returns true if an entry has its payload, and matches its own commitment and hash. */
export const isIntact = (entry: StoredEntry): boolean =>
  entry.salt !== null &&
  entry.payload !== null &&
  commitmentOf(entry.salt, entry.payload) === entry.commitment &&
  entryHash(headerOf(entry)) === entry.hash

const ORG_ID = /^[a-z0-9_-]{1,64}$/
const KIND = /^[a-z0-9_.]{1,64}$/
const RECORDED_AT =
  /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{3}Z$/
const HASH = /^[0-9a-f]{64}$/
const SALT = /^[0-9a-f]{32}$/

/** Returns true for a SHA-256 hash in lower-case hex. */
export function isHash(value: unknown): value is string {
  return typeof value === 'string' && HASH.test(value)
}

/** Returns true for a time in the format of the ledger. */
export function isTime(value: unknown): value is string {
  return typeof value === 'string' && RECORDED_AT.test(value)
}

/** Returns true for a salt: 32 lower-case hex digits. */
export function isSalt(value: unknown): value is string {
  return typeof value === 'string' && SALT.test(value)
}

/** Returns the first header field outside its alphabet, or null if all are valid. */
export function headerFault(entry: EntryHeader): keyof EntryHeader | null {
  if (!ORG_ID.test(entry.org_id)) return 'org_id'
  if (!Number.isSafeInteger(entry.seq) || entry.seq < 0) return 'seq'
  if (!isHash(entry.prev_hash)) return 'prev_hash'
  if (!RECORDED_AT.test(entry.recorded_at)) return 'recorded_at'
  if (!KIND.test(entry.kind)) return 'kind'
  return isHash(entry.commitment) ? null : 'commitment'
}

const SALT_BYTES = 16
const POOL_BYTES = 4096
let pool = ''
let used = 0

/** Returns a random salt, 128 bits as 32 hex digits. One system call serves 256 of them. */
export function newSalt(): string {
  if (used === pool.length) {
    pool = randomBytes(POOL_BYTES).toString('hex')
    used = 0
  }
  used += 2 * SALT_BYTES
  return pool.slice(used - 2 * SALT_BYTES, used)
}
