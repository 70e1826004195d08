import { setImmediate } from 'node:timers/promises'
import type { GuardAnswer, McpToolDefinition, McpToolVerdict } from '@remit/contract'
import { checkAnywhere } from '@remit/core/guard'
import type { Deps } from '@remit/core/module'
import { sliced } from '@remit/core/threads'
import type { Pacing } from '@remit/core/threads'
import { textsOf } from './definition.ts'
import type { Reported } from './report.ts'

/** Honest descriptions reach 0.95, such as one of a tool that overwrites files without warning. */
const QUARANTINE_SCORE = 0.99

/** Marked texts of a definition, for a page: the rest is in the definition. */
const MOST_MARKED = 10
const LONGEST_MARKED = 500

/** The characters of names by the specification of MCP; others can make a name look like another. */
const USUAL_NAME = /^[A-Za-z0-9_./-]+$/
const UNUSUAL = 'name:unusual_characters'

const PACING: Pacing = { now: () => performance.now(), pause: () => setImmediate() }

/**
 * Checks descriptions: texts of somebody else that a model obeys. Long ones are checked in a worker, and
 * other requests run between short ones.
 */
export async function checked(
  tools: readonly McpToolDefinition[],
  computer: Deps['computer'],
  orgId: string,
  pacing = PACING,
): Promise<Reported[]> {
  const rest = sliced(pacing)
  const reported: Reported[] = []
  for (const definition of tools) {
    const content = textsOf(definition)
    const request = {
      content,
      source: 'tool',
      direction: 'input',
      sensitivity: 'balanced',
      explain: true,
    } as const
    const { action, score, reasons, findings, parts, threshold } = await checkAnywhere(
      { request, opinions: undefined },
      computer,
      orgId,
    )
    const isUsual = USUAL_NAME.test(definition.name)
    reported.push({
      definition,
      findings: [...(isUsual ? [] : [UNUSUAL]), ...(action === 'allow' ? [] : reasons)],
      verdict: {
        score,
        marked: action === 'allow' ? [] : markedOf(content, parts, threshold, findings),
      },
      isBlocked: !isUsual || score >= QUARANTINE_SCORE,
    })
    await rest()
  }
  return reported
}

type Marked = McpToolVerdict['marked']

/** The parts of a text that score, and what detectors found, each text once. Pure. */
function markedOf(
  content: string,
  parts: GuardAnswer['parts'] = [],
  threshold: number,
  findings: GuardAnswer['findings'],
): Marked {
  const marked = new Map<string, number | null>()
  for (const { excerpt } of findings) marked.set(short(excerpt), null)
  for (const { start, end, score } of parts)
    if (score >= threshold) marked.set(short(content.slice(start, end)), score)
  return [...marked].slice(0, MOST_MARKED).map(([text, score]) => ({ text, score }))
}

const short = (text: string): string => text.trim().slice(0, LONGEST_MARKED).toWellFormed()
