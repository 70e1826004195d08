import { REVISIONS } from './messages.ts'

/** The gateway on stdio, and on HTTP in front of a server that it starts, or that runs elsewhere. */
export const WAYS = ['stdio', 'started', 'remote'] as const
export type Way = (typeof WAYS)[number]

export const WAYS_AND_REVISIONS = WAYS.flatMap((way) =>
  REVISIONS.map(([revision, options]) => [way, revision, options] as const),
)
