import { findInvisible, normalize, readViews } from '@remit/core/guard/internals'
import type { Cuts, Model } from '@remit/core/guard/internals'
import { isDocument } from './rows.ts'
import type { Row } from './rows.ts'

/** A text with the raw scores of the heads, each the highest over all forms of the text. */
export interface Scored {
  readonly row: Row
  readonly direct: number
  readonly embedded: number
}

const LOWEST = -9

/** Scores a row as the guard would read it; `model` gives every judgement, however low. */
export function scoreRow(row: Row, model: Model): Scored {
  const { text, ctx } = row
  const { view: normalized } = normalize(text)
  const { hidden } = findInvisible(text)
  const how = { source: ctx, direction: 'input', explain: false } as const
  const judgements = readViews({ text, normalized, hidden }, how, model).flatMap(
    (read) => read.judgements,
  )
  const highest = (head: 'direct' | 'embedded') =>
    Math.max(LOWEST, ...judgements.filter((j) => j.head === head).map(({ raw }) => raw))
  return { row, direct: highest('direct'), embedded: highest('embedded') }
}

export interface AllCuts {
  readonly user: Cuts
  readonly directInDocument: Cuts
  readonly embedded: Cuts
}

/** Shares of harmless texts that may be flagged and blocked. */
const SHARES: Cuts = { flag: 0.024, block: 0.012 }

/** Cuts under which so many harmless texts of each kind are flagged and blocked. */
export function cutsFrom(scored: readonly Scored[], shares = SHARES): AllCuts {
  const harmless = scored.filter(({ row }) => row.label === 0 && row.ctx !== 'system')
  const user = harmless.filter(({ row }) => !isDocument(row.ctx)).map(({ direct }) => direct)
  const documents = harmless.filter(({ row }) => isDocument(row.ctx))
  const flag = documentCuts(documents, shares.flag)
  const block = documentCuts(documents, shares.block)
  return {
    user: { flag: quantile(user, shares.flag), block: quantile(user, shares.block) },
    directInDocument: { flag: flag.direct, block: block.direct },
    embedded: { flag: flag.embedded, block: block.embedded },
  }
}

/** The part of a share that the direct head may flag; the other head has the rest. */
const SHARE_OF_DIRECT = 0.4

function documentCuts(documents: readonly Scored[], share: number) {
  const direct = quantile(
    documents.map((scored) => scored.direct),
    share * SHARE_OF_DIRECT,
  )
  const rest = documents.filter((scored) => scored.direct <= direct)
  const left = share * documents.length - (documents.length - rest.length)
  const embedded = quantile(
    rest.map((scored) => scored.embedded),
    left / rest.length,
  )
  return { direct, embedded }
}

/** The value above which the share lies. */
const quantile = (values: readonly number[], share: number): number =>
  values.toSorted((a, b) => b - a)[Math.floor(values.length * share)] ?? 0

/** Returns true if the model alone would flag or block the text. */
export function exceeds(
  { row, direct, embedded }: Scored,
  cuts: AllCuts,
  level: keyof Cuts,
): boolean {
  if (!isDocument(row.ctx)) return direct > cuts.user[level]
  return direct > cuts.directInDocument[level] || embedded > cuts.embedded[level]
}
