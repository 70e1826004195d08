import { pick, randomOf } from './head.ts'
import { isDocument, isEmbedded } from './rows.ts'
import type { Row } from './rows.ts'

/** Requests of users in at most so many UTF-16 units is planted; longer requests are their own context. */
const MAX_REQUEST = 400
const MIN_REQUEST = 20
/** A stretch of a document around it. */
const MAX_STRETCH = 900
const MIN_DOCUMENT = 60
// Texts that users send to have them read, not to have something done.
const SAYS_ONLY = new Set(['grammar-remark', 'ours-docneg'])
const SEPARATORS = ['\n', '\n\n', ' ', '. ']

/**
 * Harmless requests of users as attacks inside documents: an instruction is nothing bad until a
 * document gives it. Also sets attacks of documents, where they stand alone, into such documents.
 */
export function plant(rows: readonly Row[], requests: number, seed: number): Row[] {
  const random = randomOf(seed)
  const documents = rows.filter(
    ({ label, ctx, text }) => label === 0 && isDocument(ctx) && text.length >= MIN_DOCUMENT,
  )
  if (documents.length === 0) return []
  const asked = rows.filter(
    ({ label, ctx, text, source }) =>
      label === 0 &&
      ctx === 'user' &&
      text.length >= MIN_REQUEST &&
      text.length <= MAX_REQUEST &&
      !SAYS_ONLY.has(source),
  )
  const planted: Row[] = []
  for (let i = 0; i < requests && asked.length > 0; i++) {
    const { text, source } = pick(asked, random)
    const around = pick(documents, random)
    planted.push({
      text: set(text, around.text, random),
      label: 1,
      source: `planted-${source}`,
      category: 'embedded_instruction',
      ctx: around.ctx,
    })
  }
  for (const row of rows) {
    if (row.label === 0 || !isDocument(row.ctx) || row.text.length > MAX_REQUEST) continue
    const around = pick(documents, random)
    if (isEmbedded(row) || random() < 0.5)
      planted.push({ ...row, text: set(row.text, around.text, random) })
  }
  return planted
}

/** A payload at the beginning, the end, or a line or sentence in the middle of a stretch. */
function set(payload: string, document: string, random: () => number): string {
  const from = Math.floor(random() * Math.max(1, document.length - MAX_STRETCH))
  const stretch = document.slice(from, from + Math.floor(MAX_STRETCH * (0.3 + 0.7 * random())))
  const separator = pick(SEPARATORS, random)
  const place = random()
  if (place < 0.25) return payload + separator + stretch
  if (place < 0.6) return stretch + separator + payload
  const breaks = [...stretch.matchAll(/\n|[.!?>] /g)].map(({ index }) => index + 1)
  const at = breaks.length > 0 ? pick(breaks, random) : stretch.length
  return stretch.slice(0, at) + separator + payload + separator + stretch.slice(at)
}
