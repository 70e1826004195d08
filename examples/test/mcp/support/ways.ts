import { pairs, sampled } from '@remit/testing/pure'
import { REVISIONS } from './messages.ts'

/** The gateway on stdio, and on HTTP in front of a server that it starts, or that runs elsewhere. */
export type Way = 'stdio' | 'started' | 'remote'

/** All ways in a full run, otherwise one or two. */
export const WAYS = sampled<Way>(['stdio', 'started', 'remote'], 2)

/** Each of these ways with one revision, in a complete run with each. */
export const WAYS_AND_REVISIONS = pairs(WAYS, REVISIONS).map(
  ([way, [revision, options]]) => [way, revision, options] as const,
)
