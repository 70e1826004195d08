import { pairs } from '@remit/core/testing'
import { REVISIONS } from './messages.ts'

/** The gateway on stdio, and on HTTP in front of a server that it starts, or that runs elsewhere. */
export const WAYS = ['stdio', 'started', 'remote'] as const
export type Way = (typeof WAYS)[number]

/** Each way with each revision in a full run, otherwise with one. */
export const WAYS_AND_REVISIONS = pairs(WAYS, REVISIONS).map(
  ([way, [revision, options]]) => [way, revision, options] as const,
)
