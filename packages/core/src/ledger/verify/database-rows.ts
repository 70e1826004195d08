import type { LedgerEntryRow } from '../../db/schema.ts'

const TEXTS = ['org_id', 'prev_hash', 'hash', 'recorded_at', 'kind', 'commitment'] as const
/** Copies of payload fields that filters use. */
export const COPIES = ['agent_id', 'actor_id', 'action', 'decision'] as const
const OPTIONAL_TEXTS = ['salt', 'payload', ...COPIES] as const

type Column = keyof LedgerEntryRow

/**
 * Returns the first column with a value of an invalid type, or null. SQLite stores any type, and a
 * BLOB with the bytes of a text would be hashed like that text.
 */
export function oddColumn(row: LedgerEntryRow): Column | null {
  if (areTexts(row)) return null
  if (!Number.isSafeInteger(row.seq)) return 'seq'
  for (const name of TEXTS) if (typeof row[name] !== 'string') return name
  for (const name of OPTIONAL_TEXTS) {
    if (row[name] !== null && typeof row[name] !== 'string') return name
  }
  return null
}

// Written out: a loop over names takes five times as long, for every row.
const areTexts = (row: LedgerEntryRow): boolean =>
  Number.isSafeInteger(row.seq) &&
  typeof row.org_id === 'string' &&
  typeof row.prev_hash === 'string' &&
  typeof row.hash === 'string' &&
  typeof row.recorded_at === 'string' &&
  typeof row.kind === 'string' &&
  typeof row.commitment === 'string' &&
  typeof row.salt === 'string' &&
  typeof row.payload === 'string' &&
  isTextOrNull(row.agent_id) &&
  isTextOrNull(row.actor_id) &&
  isTextOrNull(row.action) &&
  isTextOrNull(row.decision)

const isTextOrNull = (value: unknown): boolean => value === null || typeof value === 'string'

/**
 * Returns the row with text in every column, so that the verification can continue after an invalid
 * one.
 */
export function asText(row: LedgerEntryRow): LedgerEntryRow {
  const texts = (names: readonly Column[]) =>
    names.map((name) => [name, row[name] === null ? null : `${row[name]}`] as const)
  return { ...row, ...(Object.fromEntries([...texts(TEXTS), ...texts(OPTIONAL_TEXTS)]) as object) }
}

/**
 * Returns the first index column that differs from the payload, or null. Responses do not contain
 * these columns, but filters use them. Copies of an erased payload must be erased too.
 */
export function wrongCopy(row: LedgerEntryRow): Column | null {
  if (row.payload !== null && saysTheSame(row.payload, row)) return null
  const truth = row.payload === null ? NOTHING : copiesIn(row.payload)
  for (const name of COPIES) if (row[name] !== truth[name]) return name
  return null
}

type Copies = { readonly [name in (typeof COPIES)[number]]: unknown }

const NOTHING: Copies = { agent_id: null, actor_id: null, action: null, decision: null }

/**
 * Checks that a payload has exactly these values, by its text: canonical JSON has its members in a
 * fixed order, and an unescaped quote cannot occur inside a string. True is certain; false requires
 * parsing, which takes longer than hashing the payload.
 */
function saysTheSame(payload: string, copies: Pick<LedgerEntryRow, keyof Copies>): boolean {
  let at = pass(payload, 0, '{"action":', copies.action)
  at = pass(payload, at, ',"actor":{"id":', copies.actor_id)
  if (at < 0 || !payload.startsWith(',"type":"', at)) return false
  at = payload.indexOf('"', at + ',"type":"'.length)
  at = pass(payload, at, '"},"agent_id":', copies.agent_id)
  if (at < 0 || !payload.startsWith(',"data":{', at)) return false
  // The data may contain such members too, but only the last ones are those of the payload itself.
  let end = payload.length - 1
  if (payload.charCodeAt(end) !== CLOSED) return false
  end = passBack(payload, end, ',"resource":')
  end = passBack(payload, end, ',"reason":')
  const from = end - ',"decision":'.length - (copies.decision?.length ?? 2) - 2
  return from > at && pass(payload, from, ',"decision":', copies.decision) === end
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
const CLOSED = 0x7d

/** Returns the position after a label and a value at `at`; -1 if they differ, or may differ. */
function pass(text: string, at: number, label: string, value: string | null): number {
  if (at < 0 || !text.startsWith(label, at)) return -1
  const from = at + label.length
  if (value === null) return text.startsWith('null', from) ? from + 4 : -1
  if (text.charCodeAt(from) !== QUOTE || !text.startsWith(value, from + 1)) return -1
  const to = from + 1 + value.length
  // The text ends at its first quote; a text with an escape has another value.
  return text.indexOf('"', from + 1) === to && !value.includes('\\') ? to + 1 : -1
}

/**
 * Returns the start of a label whose value, a text without escapes or null, ends before `end`; -1
 * for none.
 */
function passBack(text: string, end: number, label: string): number {
  let from = end - 4
  if (text.charCodeAt(end - 1) === QUOTE) {
    for (from = end - 2; text.charCodeAt(from) !== QUOTE; from--)
      if (from < 0 || text.charCodeAt(from) === BACKSLASH) return -1
  } else if (from < 0 || !text.startsWith('null', from)) return -1
  from -= label.length
  return from >= 0 && text.startsWith(label, from) ? from : -1
}

function copiesIn(payload: string): Copies {
  try {
    const content = JSON.parse(payload) as Record<string, unknown> | null
    const { agent_id, action, decision, actor } = content ?? {}
    return {
      agent_id,
      action,
      decision,
      actor_id: (actor as { id?: unknown } | null | undefined)?.id,
    }
  } catch {
    // A payload that is not JSON has no fields to compare with.
    return { agent_id: undefined, actor_id: undefined, action: undefined, decision: undefined }
  }
}
