import { exportLines, verifyExport as verifyByCore } from '@remit/core/ledger/records'
import { linesOf, readKey, verifyExport } from '../../src/index.ts'

export interface Given {
  readonly bytes: Uint8Array
  readonly vkey: string | null
  readonly checkpoints: readonly string[]
}

interface AnyVerdict {
  readonly errors: readonly { readonly seq: number; readonly code: string }[]
  readonly [member: string]: unknown
}

export const bytesOf = (lines: readonly string[]): Uint8Array =>
  Buffer.from(lines.map((line) => `${line}\n`).join(''))

/** The results of this program and of the server's verifier for an export. */
export async function both({ bytes, vkey, checkpoints }: Given) {
  const keys = vkey === null ? [] : [readKey(vkey)!]
  const [own, core] = await Promise.all([
    verifyExport(linesOf([bytes]), { keys, checkpoints }),
    verifyByCore(exportLines([bytes]), {
      checkpoints,
      deep: true,
      ...(vkey !== null && { vkey }),
    }),
  ])
  return { own, core }
}

const SHARED = [
  'status',
  'checked',
  'head',
  'root',
  'anchored_by',
  'truncation_checked',
  'redacted',
  'pruned',
  'recovered',
  'first_invalid',
  'gaps',
  'checkpoints',
]

/** The parts of a result on which both must agree: all except texts and repetitions. */
export function comparable(verdict: object): Record<string, unknown> {
  const { errors, ...rest } = verdict as AnyVerdict
  const codes = new Set(errors.map(({ seq, code }) => `${seq} ${code}`))
  const shared = SHARED.map((name) => [name, rest[name]] as const)
  return { ...Object.fromEntries(shared), errors: [...codes].toSorted() }
}
