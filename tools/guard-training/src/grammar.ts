import { hash } from 'node:crypto'
import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { GuardSource } from '@remit/contract'
import { randomOf } from './head.ts'
import type { Row } from './rows.ts'

/** Phrases of one kind, as a file lists them; `README.md` beside the files describes the format. */
interface Group {
  readonly attack: boolean
  readonly category: string
  readonly contexts: readonly GuardSource[]
  readonly each: number
  readonly lang: string
  readonly phrases: string[]
}

interface Grammar {
  readonly slots: Map<string, string[]>
  readonly groups: Group[]
  readonly carriers: Group[]
}

type Random = () => number

/** Documents are made with so many attacks, and as many harmless fillers, each. */
const IN_CARRIERS = 0.8
/** A longer one is a document of its own. */
const MAX_CARRIED = 400
const MAX_DEPTH = 6

/** All texts that the grammars in a folder make, and the digest of the files. */
export function expandAll(folder: URL, seed: number): { rows: Row[]; digest: string } {
  const root = fileURLToPath(folder)
  const names = globSync('**/*.txt', { cwd: root }).toSorted()
  const files = names
    .filter((name) => name !== 'concepts.txt')
    .map((name) => readFileSync(new URL(name, folder), 'utf8'))
  const grammar: Grammar = { slots: new Map(), groups: [], carriers: [] }
  for (const file of files) readFile(file, grammar)
  return { rows: rowsOf(grammar, seed), digest: hash('sha256', files.join('\0'), 'hex') }
}

function readFile(file: string, grammar: Grammar): void {
  let list: string[] = []
  for (const line of file.split('\n')) {
    if (line === '' || line.startsWith('# ')) continue
    if (!line.startsWith('@')) {
      list.push(line)
      continue
    }
    const [kind, ...words] = line.split(/\s+/)
    const [first = ''] = words
    const settings = new Map(words.map((word) => word.split('=', 2) as [string, string]))
    const shared = {
      each: Number(settings.get('each') ?? 4),
      lang: settings.get('lang') ?? 'en',
      phrases: [],
    }
    list = []
    if (kind === '@slot') {
      if (grammar.slots.has(first)) throw new Error(`the grammars have two slots ${first}`)
      grammar.slots.set(first, list)
    } else if (kind === '@texts') {
      const [label, category = 'benign', contexts = 'user'] = words
      const attack = label === 'attack'
      const group = { ...shared, attack, category, contexts: contextsOf(contexts), phrases: list }
      grammar.groups.push(group)
    } else if (kind === '@carriers') {
      const contexts = contextsOf(first)
      grammar.carriers.push({ ...shared, attack: false, category: '', contexts, phrases: list })
    } else throw new Error(`the grammars know no ${line}`)
  }
}

const contextsOf = (text: string): GuardSource[] => text.split(',') as GuardSource[]

function rowsOf(grammar: Grammar, seed: number): Row[] {
  const rows: Row[] = []
  for (const { attack, category, contexts, each, lang, phrases } of grammar.groups) {
    for (const phrase of phrases) {
      const random = randomFor(`${seed} ${phrase}`)
      const texts = new Set<string>()
      for (let tried = 0; tried < each * 2 && texts.size < each; tried++)
        texts.add(expand(phrase, grammar, random))
      for (const payload of texts) {
        const ctx = pick(contexts, random)
        const inCarrier = ctx !== 'user' && payload.length <= MAX_CARRIED && random() < IN_CARRIERS
        rows.push({
          text: inCarrier ? carried(payload, ctx, grammar, random) : payload,
          label: attack ? 1 : 0,
          source: `grammar-${category}`,
          category,
          ctx,
          lang,
        })
      }
    }
  }
  return rows
}

/** A document of that context around the payload; the payload alone where a folder has none. */
function carried(payload: string, ctx: GuardSource, grammar: Grammar, random: Random): string {
  const fitting = grammar.carriers.filter(({ contexts }) => contexts.includes(ctx))
  if (fitting.length === 0) return payload
  const carrier = pick(pick(fitting, random).phrases, random)
  return expand(carrier, grammar, random).replace('{payload}', () => payload)
}

/** `\n` and `\t` are white space, `\\n` is what JSON writes for it, and any sign can be meant as such. */
const ESCAPED = /\\(n|t|\\n|[^\w\s\\])/g
const WHITE: Readonly<Record<string, string>> = { n: '\n', t: '\t' }
const INNERMOST = /(?<!\\)\[((?:\\[[\]]|[^[\]])*)(?<!\\)\]|\{([^{}\s"':,]+)\}/gu

/** A phrase with its choices made and its slots filled. */
function expand(phrase: string, grammar: Grammar, random: Random, depth = 0): string {
  const filled = phrase.replace(INNERMOST, (found, choices?: string, slot?: string) => {
    if (choices !== undefined) return pick(choices.split('|'), random)
    const fillers = grammar.slots.get(slot ?? '')
    return fillers ? pick(fillers, random) : found
  })
  if (filled !== phrase && depth < MAX_DEPTH) return expand(filled, grammar, random, depth + 1)
  return filled.replace(ESCAPED, (_, what: string) => WHITE[what] ?? what)
}

const pick = <T>(list: readonly T[], random: Random): T => {
  const chosen = list[Math.floor(random() * list.length)]
  if (chosen === undefined) throw new Error('a list of the grammars is empty')
  return chosen
}

const randomFor = (text: string): Random => randomOf(hash('sha256', text, 'buffer').readInt32LE(0))
