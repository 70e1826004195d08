import { LRUCache } from 'lru-cache'

/** A table, or a word of SQL, where a statement reads or writes rows. */
const PLACE = /\b(from|join|into|update)(\s+)"?(\w+)"?(?=(\s+as\b|\s+\w+)?)/g
/** Words after the name of a table that are not its alias. */
const NEXT =
  /^\s+(?:cross|default|except|fetch|for|full|group|having|inner|intersect|join|left|limit|natural|offset|on|order|overriding|returning|right|select|set|union|using|values|where|window)$/
const MAX_TEXTS = 300

/**
 * The texts of statements for the tables of a shard, from those for distributed tables. `tables`
 * has the shard of each table.
 */
export class ShardTexts {
  readonly #tables: ReadonlyMap<string, string>
  readonly #texts = new LRUCache<string, string>({ max: MAX_TEXTS })

  constructor(tables: ReadonlyMap<string, string>) {
    this.#tables = tables
  }

  /** Returns a text with all tables on the shard, or unchanged if one may be missed. */
  of(text: string): string {
    const known = this.#texts.get(text)
    if (known !== undefined) return known
    const made = onShard(text, this.#tables)
    this.#texts.set(text, made)
    return made
  }
}

/**
 * Replaces each table by its shard, with the name of the table as alias. A statement that names a
 * table in any other place than a known one is returned unchanged: one on a shard and on distributed
 * tables could fail.
 */
export function onShard(text: string, tables: ReadonlyMap<string, string>): string {
  let isKnown = true
  const rest = text.replace(PLACE, (all, word: string, space: string, name: string) =>
    tables.has(name) ? `${word}${space}` : all,
  )
  for (const [, name = ''] of rest.matchAll(/(?<!\bas\s+"?)\b(\w+)\b(?!"?\.)/g))
    if (tables.has(name)) isKnown = false
  if (!isKnown) return text
  return text.replace(
    PLACE,
    (all, word: string, space: string, name: string, next: string | undefined) => {
      const shard = tables.get(name)
      if (shard === undefined) return all
      const hasAlias = next !== undefined && !NEXT.test(next)
      return `${word}${space}${shard}${hasAlias ? '' : ` as ${name}`}`
    },
  )
}
