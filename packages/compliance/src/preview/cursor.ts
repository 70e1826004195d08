import type { ReplayRequest } from '@remit/contract'
import { invalid } from '@remit/core'
import { digestOf } from './overlay.ts'
import type { ReplayResult, ReplaySpan } from '../jobs/replay.ts'

const CURSOR = /^(\d{1,15})\.(\d{1,15})\.([0-9a-f]{16})\.([0-9a-f]{16})$/

/** Where a replay goes on, and the beginning of the digest of the rules that it has to go on with. */
export interface Continued {
  readonly span: ReplaySpan
  readonly digest: string
}

/** What is left of the period, bound to this period and overlay and to the rules it was judged by. */
export const cursorOf = (request: ReplayRequest, { rest, judgedBy }: ReplayResult): string | null =>
  rest && [rest.fromSeq, rest.endSeq, mark(request), judgedBy.digest.slice(0, 16)].join('.')

/** Throws `invalid_request` for a cursor of another replay. */
export function readCursor(request: ReplayRequest): Continued | null {
  if (request.cursor === undefined) return null
  const [, fromSeq, endSeq, own, digest] = CURSOR.exec(request.cursor) ?? []
  if (own !== mark(request) || digest === undefined)
    throw invalid('cursor', 'is not a cursor of a replay with this period and overlay')
  return { span: { fromSeq: Number(fromSeq), endSeq: Number(endSeq) }, digest }
}

const mark = ({ from, to, overlay }: ReplayRequest): string =>
  digestOf({ from, to, overlay }).slice(0, 16)
