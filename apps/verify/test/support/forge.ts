import { createHash, sign } from 'node:crypto'
import { Tree } from '../../src/tree.ts'
import { testKey } from './vectors.ts'

export interface Row {
  readonly seq: number
  readonly recorded_at: string
  readonly kind: string
  readonly prev_hash: string
  readonly commitment: string
  readonly hash: string
  readonly salt: string | null
  readonly payload: string | null
}

const sha = (text: string): string => createHash('sha256').update(text).digest('hex')

/** Gives an entry the commitment and the hash that it has, as anyone with access to the database could. */
function sealed(org: string, row: Row): Row {
  const { seq, prev_hash, recorded_at, kind, salt, payload } = row
  const commitment =
    payload === null ? row.commitment : sha(`ledger-payload/v1\n${salt}\n${payload}`)
  const header = `ledger-entry/v1\n${org}\n${seq}\n${prev_hash}\n${recorded_at}\n${kind}\n${commitment}\n`
  return { ...row, commitment, hash: sha(`\0${header}`) }
}

const rowOf = (line: string): Row => {
  const { type: _, ...row } = JSON.parse(line) as Row & { type: string }
  return row
}
const lineOf = (row: Row): string => JSON.stringify({ type: 'entry', ...row })

/** All entries from one on changed, linked and hashed again; with a key, also named by genesis. */
export function sealedFrom(
  lines: readonly string[],
  from: number,
  change: (row: Row) => Partial<Row>,
  key?: string,
): string[] {
  const header = JSON.parse(lines[0]!) as { org_id: string; vkey: string }
  const named = (text: string | null) =>
    key === undefined ? text : (text?.replace(header.vkey, testKey(key).vkey) ?? null)
  const rows: Row[] = []
  for (const row of lines.slice(1, -1).map(rowOf)) {
    const prev_hash = rows.at(-1)?.hash ?? row.prev_hash
    const mine = { ...row, payload: named(row.payload), ...(row.seq === from && change(row)) }
    rows.push(row.seq < from ? row : sealed(header.org_id, { ...mine, prev_hash }))
  }
  return [named(lines[0]!)!, ...rows.map(lineOf), lines.at(-1)!]
}

/** The last line signed again over the entries as they are. */
export function signedBy(key: string, lines: readonly string[]): string[] {
  const { origin, vkey } = JSON.parse(lines[0]!) as { origin: string; vkey: string }
  const rows = lines.slice(1, -1).map(rowOf)
  const tree = new Tree()
  for (const { hash } of rows) tree.append(Buffer.from(hash, 'hex'))
  const text = `${origin}\n${rows.length}\n${tree.root().toString('base64')}\n`
  const id = Buffer.from(vkey.split('+')[1]!, 'hex')
  const signature = sign(null, Buffer.from(text), testKey(key).privateKey)
  const note = `${text}\n— ${origin} ${Buffer.concat([id, signature]).toString('base64')}\n`
  return [...lines.slice(0, -1), JSON.stringify({ type: 'checkpoint', note })]
}

interface Attack {
  readonly name: string
  /** The export with one entry changed, its hash too where asked for; null where nothing changes. */
  readonly change: (lines: readonly string[], seq: number, reseal: boolean) => string[] | null
}

const attack = (name: string, edit: (row: Row) => Partial<Row>): Attack => ({
  name,
  change: (lines, seq, reseal) => {
    const line = lines[seq + 1]!
    const row = { ...rowOf(line), ...edit(rowOf(line)) }
    const org = (JSON.parse(lines[0]!) as { org_id: string }).org_id
    const changed = lineOf(reseal ? sealed(org, row) : row)
    return changed === line ? null : lines.with(seq + 1, changed)
  },
})

const later = (time: string, by: number) => new Date(Date.parse(time) + by).toISOString()

/** Changes that an attacker with the database can make to one entry. */
export const ATTACKS: readonly Attack[] = [
  attack('payload erased', () => ({ salt: null, payload: null })),
  attack('payload gone, salt kept', () => ({ payload: null })),
  attack('salt gone, payload kept', () => ({ salt: null })),
  attack('another salt', () => ({ salt: '0'.repeat(32) })),
  attack('a digit of the payload', ({ payload }) => ({
    payload: payload?.replace(/\d/, (digit) => `${9 - Number(digit)}`) ?? null,
  })),
  attack('a payload that is not canonical', ({ payload }) => ({
    payload: payload?.replace('{', '{ ') ?? null,
  })),
  attack('a payload with another member', ({ payload }) => ({
    payload: payload?.replace('"actor"', '"acted":1,"actor"') ?? null,
  })),
  attack('a payload that is no JSON', () => ({ payload: '{"action":}' })),
  attack('an empty payload', () => ({ payload: '' })),
  attack('a payload of deep lists', () => ({ payload: '['.repeat(50_000) })),
  attack('an hour later', ({ recorded_at }) => ({ recorded_at: later(recorded_at, 3_600_000) })),
  attack('a day earlier', ({ recorded_at }) => ({ recorded_at: later(recorded_at, -86_400_000) })),
  attack('a time with an offset', ({ recorded_at }) => ({
    recorded_at: recorded_at.replace('Z', '+00:00'),
  })),
  attack('a time that is none', () => ({ recorded_at: 'yesterday' })),
  attack('another kind', ({ kind }) => ({ kind: kind === 'a.b' ? 'c.d' : 'a.b' })),
  attack('the kind of genesis', () => ({ kind: 'ledger.genesis' })),
  attack('the kind of a rotation', () => ({ kind: 'ledger.key_rotated' })),
  attack('the kind of an erasure', () => ({ kind: 'ledger.erased' })),
  attack('a kind with a newline', ({ kind }) => ({ kind: `${kind}\n` })),
  attack('another link', () => ({ prev_hash: 'a'.repeat(64) })),
  attack('a link in capitals', ({ prev_hash }) => ({
    prev_hash: prev_hash.replaceAll('0', 'O').toUpperCase(),
  })),
  attack('another commitment', () => ({ commitment: 'b'.repeat(64) })),
  attack('another hash', () => ({ hash: 'c'.repeat(64) })),
  attack('the next number', ({ seq }) => ({ seq: seq + 1 })),
  attack('a number far away', ({ seq }) => ({ seq: seq + 1_000_000 })),
  attack('the largest number', () => ({ seq: Number.MAX_SAFE_INTEGER })),
  attack('the first number', () => ({ seq: 0 })),
]
