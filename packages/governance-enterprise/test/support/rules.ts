import type { AuthorizeRequest } from '@remit/contract'
import { DecisionMeter, resourceText } from '@remit/core/decision'
import type { Ask } from '@remit/core/decision'
import { compileCondition } from '../../src/rules/condition.ts'
import type { Rule } from '../../src/rules/rule-index.ts'

export const NOW = Date.parse('2026-11-20T08:00:00.000Z')

let count = 0

/** A rule about everything, but for what is given; its condition may be text. */
export function aRule({
  condition = null,
  ...given
}: Partial<Omit<Rule, 'condition'>> & { condition?: Rule['condition'] | string } = {}): Rule {
  return {
    id: `rule_${++count}`,
    agents: ['*'],
    actions: ['*'],
    resources: ['*'],
    notBefore: null,
    expiresAt: null,
    ...given,
    condition: typeof condition === 'string' ? compileCondition(condition) : condition,
  }
}

/** A request on its way through the stages. */
export function anAsk(
  request: Partial<AuthorizeRequest> = {},
  rest: Partial<Omit<Ask, 'request'>> = {},
): Ask {
  const whole = { agent_id: 'payer', action: 'payments.transfer', ...request }
  return {
    orgId: 'org_test',
    plan: 'enterprise',
    decisionId: 'dec_test',
    caller: null,
    request: whole,
    claims: {},
    resource: resourceText(whole.resource),
    now: NOW,
    meter: new DecisionMeter(),
    ...rest,
  }
}
