import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { gunzipSync } from 'node:zlib'
import type { GuardSource } from '@remit/contract'

/** A text with what is known of it. */
export interface Row {
  readonly text: string
  /** 1 for an attack. */
  readonly label: 0 | 1
  readonly source: string
  readonly category: string
  readonly ctx: GuardSource
  readonly lang?: string
  /** Under which the text may be used, where the corpus says so row by row. */
  readonly licence?: string
}

/** A corpus on disk: JSON lines, gzipped or plain. */
export interface Corpus {
  readonly name: string
  readonly sha256: string
  readonly rows: readonly Row[]
}

export function readCorpus(path: string): Corpus {
  const bytes = readFileSync(path)
  const text = (path.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString('utf8')
  const lines = text.split('\n').filter((line) => line !== '')
  return {
    name: basename(path),
    sha256: hash('sha256', bytes, 'hex'),
    rows: lines.map((line) => JSON.parse(line) as Row),
  }
}

/** An instruction that is harmless when a user gives it, and an attack inside a document. */
export const isEmbedded = ({ category }: Row): boolean => category === 'embedded_instruction'

export const isDocument = (source: GuardSource): boolean =>
  source === 'document' || source === 'tool'
