/** A request for approval, as people read about it. */
export interface Asked {
  readonly action: string
  readonly resource: string | { readonly type: string; readonly id: string } | null
  readonly context: Readonly<Record<string, unknown>>
}

/** `type:id`, or the text; empty without a resource. */
export const resourceText = ({ resource }: Pick<Asked, 'resource'>): string =>
  typeof resource === 'string' ? resource : resource ? `${resource.type}:${resource.id}` : ''

const MCP_METHODS: Readonly<Record<string, string>> = {
  'tools/call': 'tool:',
  'resources/read': 'resource:',
  'prompts/get': 'prompt:',
}

/** The target of a call over MCP that no mapping gave an action of its own; null for others. */
function mcpTarget(asked: Asked): string | null {
  const prefix = Object.hasOwn(MCP_METHODS, asked.action) ? MCP_METHODS[asked.action] : undefined
  const resource = resourceText(asked)
  if (prefix === undefined || !resource.startsWith(prefix)) return null
  const { upstream } = asked.context
  const name = resource.slice(prefix.length)
  return typeof upstream === 'string' && upstream !== '' ? `${name} on server ${upstream}` : name
}

/** The name of a request: the action, or the tool and server of a call over MCP. */
export const titleOf = (asked: Asked): string => mcpTarget(asked) ?? asked.action

/**
 * The amount of a request with its currency, such as `1,001.00 USD`; null without one, and where two members
 * contradict each other, as conditions read them.
 */
export function amountText({ context }: Pick<Asked, 'context'>): string | null {
  const { amount, amount_usd: usd, currency = 'USD' } = context
  const value = usd ?? amount
  if (typeof value !== 'number' || typeof currency !== 'string') return null
  if ((amount ?? value) !== value || (usd !== undefined && usd !== null && currency !== 'USD'))
    return null
  const digits = decimals(value)
  return digits === null || !/^[A-Z]{3}$/.test(currency) ? null : `${digits} ${currency}`
}

/** All decimals of a number, at least two; null where six do not show it exactly. */
function decimals(value: number): string | null {
  const [whole = '', fraction = ''] = value.toFixed(6).split('.')
  if (fraction === '' || Number(`${whole}.${fraction}`) !== value) return null
  const grouped = whole.replaceAll(/\B(?=(\d{3})+$)/g, ',')
  return `${grouped}.${fraction.replace(/0+$/, '').padEnd(2, '0')}`
}

/** A rule that requires an approval, as a request records it. */
export interface RequiringRule {
  readonly rule_id: string
  readonly condition_failed?: boolean | undefined
}

/** Names the rules that require an approval only because their condition failed; null without one. */
export function failedText(requirements: readonly RequiringRule[]): string | null {
  const ids = requirements.filter((one) => one.condition_failed).map((one) => one.rule_id)
  if (ids.length === 0) return null
  const rules = `the ${ids.length === 1 ? 'rule' : 'rules'} ${ids.join(', ')}`
  return `The condition of ${rules} could not be evaluated for this request: a value that it reads is missing or not valid.`
}

/** The object of an approval, after the word "Approve": `1,001.00 USD for invoice:9003`. */
export function summaryOf(asked: Asked): string {
  const [title, amount] = [titleOf(asked), amountText(asked)]
  const resource = mcpTarget(asked) === null ? resourceText(asked) : ''
  if (amount !== null && resource !== '') return `${amount} for ${resource}`
  if (amount !== null) return `${amount} for ${title}`
  return resource === '' ? title : `${title} on ${resource}`
}
