/** Texts and values for the benchmark of the scorers, the same in every run. */

const LETTERS = 'abcdefghijklmnopqrstuvwxyz     '

/** Returns a pseudo-random number below `below`. */
const noise = (seed: number, at: number, below: number): number =>
  (Math.imul(seed * 40_503 + at * 2_654_435 + 1, 2_246_822_519) >>> 8) % below

export function textOf(length: number, seed: number): string {
  let text = ''
  for (let at = 0; at < length; at++)
    text += LETTERS[(noise(seed, at, 1 << 24) >>> 3) % LETTERS.length] ?? ' '
  return text
}

/** Returns the text with every tenth character changed. */
export const typo = (text: string): string =>
  Array.from(text, (letter, at) => (at % 10 === 9 ? '#' : letter)).join('')

const WORDS =
  'the agent pays an invoice of forty dollars and writes what it did to its ledger again'.split(' ')

export const sentence = (count: number, seed: number): string =>
  Array.from(
    { length: count },
    (_, at) => WORDS[(noise(seed, at, 1 << 24) >>> 3) % WORDS.length],
  ).join(' ')

/** An object with 25 leaves. */
export const objectOf = (seed: number): Record<string, unknown> => ({
  id: `order-${seed}`,
  total: 10 + (seed % 7),
  paid: seed % 2 === 0,
  note: sentence(6, seed),
  customer: {
    name: sentence(2, seed + 1),
    city: sentence(1, seed + 2),
    zip: 10_000 + seed,
    vip: null,
  },
  lines: Array.from({ length: 4 }, (_, at) => ({
    sku: `sku-${(seed + at) % 9}`,
    count: at + 1,
    price: (seed % 5) + at,
    title: sentence(2, seed + at),
  })),
  tags: ['new', sentence(1, seed + 3)].slice(0, 1),
})

export const SCHEMA = {
  type: 'object',
  required: ['id', 'total', 'lines'],
  properties: {
    id: { type: 'string', minLength: 3 },
    total: { type: 'number', minimum: 0 },
    paid: { type: 'boolean' },
    customer: { type: 'object', required: ['name'], properties: { name: { type: 'string' } } },
    lines: {
      type: 'array',
      items: {
        type: 'object',
        required: ['sku', 'count'],
        properties: { sku: { type: 'string' }, count: { type: 'integer' } },
      },
    },
  },
}

export const listText = (seed: number): string[] =>
  Array.from({ length: 10 }, (_, at) => sentence(2, seed + at))
