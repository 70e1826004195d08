import { setImmediate } from 'node:timers/promises'
import type { McpToolDefinition } from '@remit/contract'
import { checkAnywhere, sliced } from '@remit/core'
import type { Deps, Pacing } from '@remit/core'
import { textsOf } from './definition.ts'
import type { Reported } from './report.ts'

/** Honest descriptions reach 0.95, such as one of a tool that overwrites files without warning. */
const QUARANTINE_SCORE = 0.99

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
    const request = {
      content: textsOf(definition),
      source: 'tool',
      direction: 'input',
      sensitivity: 'balanced',
      explain: false,
    } as const
    const { action, score, reasons } = await checkAnywhere(
      { request, opinions: undefined },
      computer,
      orgId,
    )
    const isUsual = USUAL_NAME.test(definition.name)
    reported.push({
      definition,
      findings: [...(isUsual ? [] : [UNUSUAL]), ...(action === 'allow' ? [] : reasons)],
      isBlocked: !isUsual || score >= QUARANTINE_SCORE,
    })
    await rest()
  }
  return reported
}
