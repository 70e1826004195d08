import type { ReplayRequest } from '@remit/contract'
import { invalid } from '@remit/core/base'
import { digestOf } from './overlay.ts'
import type { ReplayResult, ReplaySpan } from '../jobs/replay.ts'

const CURSOR = /^(\d{1,15})\.(\d{1,15})\.([0-9a-f]{16})\.([0-9a-f]{16})$/

/** The position to continue a replay from, and the digest prefix of its rules. */
export interface ReplayPosition {
  readonly span: ReplaySpan
  readonly digest: string
}

/** Encodes the remaining span, bound to the period, the overlay and the rules. */
export const cursorOf = (request: ReplayRequest, { rest, judgedBy }: ReplayResult): string | null =>
  rest && [rest.fromSeq, rest.endSeq, mark(request), judgedBy.digest.slice(0, 16)].join('.')

/** Decodes a cursor. Throws `invalid_request` for a cursor of another replay. */
export function readCursor(request: ReplayRequest): ReplayPosition | null {
  if (request.cursor === undefined) return null
  const [, fromSeq, endSeq, own, digest] = CURSOR.exec(request.cursor) ?? []
  if (own !== mark(request) || digest === undefined)
    throw invalid('cursor', 'is not a cursor of a replay with this period and overlay')
  return { span: { fromSeq: Number(fromSeq), endSeq: Number(endSeq) }, digest }
}

const mark = ({ from, to, overlay }: ReplayRequest): string =>
  digestOf({ from, to, overlay }).slice(0, 16)
