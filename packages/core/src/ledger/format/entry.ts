import { hash, randomBytes } from 'node:crypto'
import { CanonicalJsonError, canonicalJson } from '../../json/canonical-json.ts'

/** First line of every header: names the format and its version, and separates it from others. */
export const ENTRY_FORMAT = 'ledger-entry/v1'

/** First line of what a commitment hashes. */
const PAYLOAD_FORMAT = 'ledger-payload/v1'

/** `prev_hash` of entry 0: 64 zeros. */
export const ZERO_HASH = '0'.repeat(64)

/** The kind of entry 0, and of no other. */
export const GENESIS_KIND = 'ledger.genesis' as const

/** What an entry says. Stored as its canonical JSON text, hidden behind a salt, erasable. */
export interface EntryPayload {
  readonly action: string | null
  readonly actor: { readonly type: string; readonly id: string }
  readonly agent_id: string | null
  readonly data: Readonly<Record<string, unknown>>
  readonly decision: string | null
  readonly reason: string | null
  readonly resource: string | null
}

/** The fields that are hashed as lines of the header and are never erased. */
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

/** One entry as it is kept and exported. Salt and payload are null together, once erased. */
export interface StoredEntry extends EntryHeader {
  readonly hash: string
  /** 16 random bytes as 32 hex digits. */
  readonly salt: string | null
  readonly payload: string | null
}

/**
 * The text of a payload that is committed to and stored. Throws `CanonicalJsonError` for anything
 * JSON cannot carry, so it belongs before the queue of the writer, not inside its transaction.
 */
export function payloadText(payload: EntryPayload): string {
  const text = canonicalJson(payload)
  // The engine keeps a text as a tree of its pieces until one looks into it. This one is hashed inside
  // another and then stored: put together now, it is so once and not for each of them.
  text.at(-1)
  return text
}

const PAYLOAD_NAMES = 'action,actor,agent_id,data,decision,reason,resource'

/** Reads a payload text, or returns null unless it is exactly what `payloadText` writes. */
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

/** What the header holds instead of the payload: without the salt, nobody can guess it back. */
export function commitmentOf(salt: string, payload: string): string {
  return hash('sha256', `${PAYLOAD_FORMAT}\n${salt}\n${payload}`, 'hex')
}

/**
 * The seven lines that are hashed. The fields must keep to their alphabets (`headerFault`): that
 * none of them can hold a newline is what makes the text parse one way only.
 */
export function headerOf(entry: EntryHeader): string {
  return `${ENTRY_FORMAT}\n${entry.org_id}\n${entry.seq}\n${entry.prev_hash}\n${entry.recorded_at}\n${entry.kind}\n${entry.commitment}\n`
}

/**
 * The hash of an entry from its header. The zero byte makes it the RFC 6962 leaf hash of the
 * header at the same time, so one hash serves the chain and the Merkle tree.
 */
export function entryHash(header: string): string {
  return hash('sha256', `\0${header}`, 'hex')
}

const ORG_ID = /^[a-z0-9_-]{1,64}$/
const KIND = /^[a-z0-9_.]{1,64}$/
const RECORDED_AT =
  /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{3}Z$/
const HASH = /^[0-9a-f]{64}$/
const SALT = /^[0-9a-f]{32}$/

/** Whether a value is the hexadecimal form of a SHA-256 hash as written everywhere here. */
export function isHash(value: unknown): value is string {
  return typeof value === 'string' && HASH.test(value)
}

/** Whether a value is a time as written everywhere here. */
export function isTime(value: unknown): value is string {
  return typeof value === 'string' && RECORDED_AT.test(value)
}

/** Whether a value is a salt as written here: 32 lower-case hex digits. */
export function isSalt(value: unknown): value is string {
  return typeof value === 'string' && SALT.test(value)
}

/** The first header field outside its alphabet, or null if all may be hashed. */
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

/** A fresh random salt, 128 bits as 32 hex digits. One system call serves 256 of them. */
export function newSalt(): string {
  if (used === pool.length) {
    pool = randomBytes(POOL_BYTES).toString('hex')
    used = 0
  }
  used += 2 * SALT_BYTES
  return pool.slice(used - 2 * SALT_BYTES, used)
}
