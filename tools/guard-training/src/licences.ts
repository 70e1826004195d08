import type { Row } from './rows.ts'

/**
 * The sources of the project's corpus that the shipped weights may learn from, with the licence
 * that their repository states: Apache-2.0, MIT, CC0 or CC BY, for the texts and not only for the
 * collection. Attacks are our own only; what is not listed is left out.
 */
const OWN = 'own work, Apache-2.0'
const LICENCES: readonly (readonly [source: RegExp, licence: string])[] = [
  [/^ours-/, OWN],
  [/^grammar-/, OWN],
  [/^neuralchemy$/, 'Apache-2.0'],
  [/^aliakarma-synthetic$/, 'MIT'],
  [/^GPTeacher-/, 'MIT'],
  [/^awesome-prompts-cc0$|^prompts\.chat-book$/, 'CC0-1.0'],
  [/^tldr$/, 'CC-BY-4.0'],
  [/^BFCL|^ToolBench/, 'Apache-2.0'],
  [/^self-instruct$|^T0-P3$/, 'Apache-2.0'],
  [/^PIArena-qasper_long$/, 'CC-BY-4.0'],
  [/^PIArena-gov_report_long$/, 'MIT; works of the US government'],
  [/^docs:(?!stdlib-js)/, 'Apache-2.0, MIT or CC0-1.0'],
]
/** Licences that a corpus may state for a row. */
const OPEN = /^(?:Apache-2\.0|MIT|BSD-[23]-Clause|CC0-1\.0|CC-BY-[34]\.0|public domain)\b/
const OUR_ATTACKS = /^(?:ours|grammar)-/

/** The licence under which a row may be learned from; null where it may not. */
export function licenceOf({ source, label, licence }: Row): string | null {
  if (label === 1 && !OUR_ATTACKS.test(source)) return null
  if (licence !== undefined) return OPEN.test(licence) ? licence : null
  return LICENCES.find(([pattern]) => pattern.test(source))?.[1] ?? null
}
