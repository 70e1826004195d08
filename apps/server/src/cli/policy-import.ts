/** Rules of other systems as documents of a policy set, where they cannot allow more than before. */
import { API_VERSION } from '@remit/contract'
import type { PolicyInput, StoredDocument } from '@remit/contract'
import { isName } from '@remit/contract/values'
import { z } from 'zod'
import { CliError, EXIT } from './errors.ts'

/** The result for one rule of the source. */
export interface Imported {
  readonly rule: string
  /** `stricter`: the document forbids more than the rule. */
  readonly outcome: 'imported' | 'stricter' | 'left out'
  readonly why: readonly string[]
}

export interface Import {
  readonly documents: StoredDocument[]
  readonly report: Imported[]
}

/** Reads a part of the source. @throws CliError that names the member. */
function shaped<T>(shape: z.ZodType<T>, value: unknown, of: string): T {
  const { success, data, error } = shape.safeParse(value)
  if (success) return data
  const [issue] = error.issues
  throw new CliError(`${of}: ${issue?.path.join('.') ?? ''} ${issue?.message ?? ''}`, EXIT.failed)
}

/** Makes names of documents: those characters that one can have, none twice. */
function namer(): (text: string) => string {
  const used = new Set<string>()
  return (text) => {
    const base = text.replaceAll(/[^\w.:@-]/g, '-').slice(0, 120)
    let name = base
    for (let i = 2; used.has(name); i++) name = `${base}-${i}`
    used.add(name)
    return name
  }
}

const quoted = (text: string): string => JSON.stringify(text)

const ClaudeSettings = z.object({
  permissions: z
    .looseObject({
      allow: z.array(z.string()).default([]),
      ask: z.array(z.string()).default([]),
      deny: z.array(z.string()).default([]),
    })
    .default({ allow: [], ask: [], deny: [] }),
})

/** Tools to which Claude Code applies a rule for another tool. */
const FAMILIES: Readonly<Record<string, readonly string[]>> = {
  Edit: ['Edit', 'MultiEdit', 'NotebookEdit', 'Write'],
  Read: ['Read', 'NotebookRead', 'Glob', 'Grep'],
  Task: ['Task', 'Agent'],
  Agent: ['Task', 'Agent'],
}

/**
 * Settings of Claude Code: entries of `permissions.deny` and `permissions.ask` that name a whole tool.
 * `allow` is left out, and entries with a pattern of arguments, which Claude Code reads in its own way.
 */
export function importClaude(settings: unknown): Import {
  const { permissions } = shaped(ClaudeSettings, settings, 'settings')
  const { allow, ask, deny, ...others } = permissions
  const nameOf = namer()
  const documents: StoredDocument[] = []
  const report: Imported[] = []
  for (const [effect, entries] of Object.entries({ deny, ask }))
    for (const entry of entries) {
      const rule = `${effect} ${entry}`
      const scope = claudeScope(entry)
      if (typeof scope === 'string') {
        report.push({ rule, outcome: 'left out', why: [scope] })
        continue
      }
      const head = { apiVersion: API_VERSION, name: nameOf(`claude.${effect}.${entry}`) } as const
      documents.push(
        effect === 'deny'
          ? { ...head, kind: 'Policy', spec: { effect, ...scope } }
          : { ...head, kind: 'ApprovalRule', spec: scope },
      )
      report.push({ rule, outcome: 'imported', why: [] })
    }
  const none = (rule: string, why: string) => report.push({ rule, outcome: 'left out', why: [why] })
  for (const entry of allow) none(`allow ${entry}`, 'an allow of Claude Code is for one machine')
  for (const name of Object.keys(others)) none(name, 'a setting of Claude Code, not a rule')
  return { documents, report }
}

type Scope = Pick<PolicyInput, 'actions'> & Partial<Pick<PolicyInput, 'resources' | 'condition'>>

/** The calls of an entry, or why it is left out. */
function claudeScope(entry: string): Scope | string {
  const [, tool = '', args] = /^([^()\s]+)(?:\((.*)\))?$/s.exec(entry) ?? []
  if (tool === '') return 'is not the name of a tool'
  if (args !== undefined && args !== '*') return 'has a pattern of arguments'
  if (tool.startsWith('mcp__')) return mcpScope(tool.slice('mcp__'.length))
  if (!/^\w+$/.test(tool)) return 'is not the name of a tool'
  return { actions: (FAMILIES[tool] ?? [tool]).map((name) => `claude.${name}`) }
}

/** `a__b__c` is the tool `b__c` of `a`, or `c` of `a__b`, or the server `a__b__c`: all of them. */
function mcpScope(name: string): Scope | string {
  const whole = name.endsWith('__*') ? name.slice(0, -'__*'.length) : name
  if (!/^[\w.-]+$/.test(whole)) return 'has a pattern of tools'
  const actions = ['tools/call']
  const readings = [...name.matchAll(/(?=__)/g)]
    .map(({ index }) => ({ server: name.slice(0, index), tool: name.slice(index + 2) }))
    .filter(({ server, tool }) => server !== '' && tool !== '' && tool !== '*')
  const [only] = readings
  if (only && readings.length === 1 && whole === name)
    return {
      actions,
      resources: [`tool:${only.tool}`],
      condition: `context.upstream == ${quoted(only.server)}`,
    }
  return {
    actions,
    condition: [
      `context.upstream == ${quoted(whole)}`,
      ...readings.map(
        ({ server, tool }) =>
          `(context.upstream == ${quoted(server)} && resource.id == ${quoted(tool)})`,
      ),
    ].join(' || '),
  }
}

const Entity = z.object({ type: z.string(), id: z.string() })
type Entity = z.infer<typeof Entity>
const Constraint = z.looseObject({
  op: z.string(),
  entity: Entity.optional(),
  entities: z.array(Entity).optional(),
  entity_type: z.string().optional(),
  in: z.unknown().optional(),
})
type Constraint = z.infer<typeof Constraint>
const CedarPolicy = z.looseObject({
  effect: z.enum(['permit', 'forbid']),
  principal: Constraint,
  action: Constraint,
  resource: Constraint,
  conditions: z
    .array(z.object({ kind: z.enum(['when', 'unless']), body: z.unknown() }))
    .default([]),
})
type CedarPolicy = z.infer<typeof CedarPolicy>
const CedarPolicies = z.record(z.string(), CedarPolicy)
const CedarSet = z.strictObject({
  staticPolicies: CedarPolicies.default({}),
  templates: CedarPolicies.default({}),
  templateLinks: z.unknown().optional(),
})

export interface CedarOptions {
  /** No action of the source is in a group: `action in [a, b]` is `a` or `b`. */
  readonly flatActions: boolean
}

/** Thrown for a part of a rule that cannot be translated. */
class Unknown extends Error {}

/**
 * Policies of Cedar in its JSON format. A `permit` becomes an allow of the same requests, or of fewer,
 * or is left out; a `forbid` becomes a deny of the same requests, or of more. Where a condition fails,
 * Cedar skips the policy; a deny of Remit denies.
 */
export function importCedar(source: unknown, options: CedarOptions): Import {
  const isOne = typeof source === 'object' && source !== null && 'effect' in source
  const set = isOne ? { staticPolicies: { policy: source } } : source
  const { staticPolicies, templates } = shaped(CedarSet, set, 'policies')
  const all = Object.entries({ ...templates, ...staticPolicies })
  const types = typesOf(all.map(([, policy]) => policy))
  const nameOf = namer()
  const spec = { default_effect: 'deny' }
  const documents: StoredDocument[] = [
    { apiVersion: API_VERSION, kind: 'Settings', name: 'settings', spec },
  ]
  const report: Imported[] = []
  for (const [id, policy] of all) {
    const { rule, why } = policyOf(policy, types, options)
    const isForbid = policy.effect === 'forbid'
    if (isForbid || why.length === 0)
      documents.push({
        apiVersion: API_VERSION,
        kind: 'Policy',
        name: nameOf(`cedar.${id}`),
        spec: rule,
      })
    const changed = isForbid ? 'stricter' : 'left out'
    report.push({ rule: id, outcome: why.length === 0 ? 'imported' : changed, why })
  }
  return { documents, report }
}

interface Types {
  readonly principal: ReadonlySet<string>
  readonly action: ReadonlySet<string>
}

/** The types in the policies: names of Remit have none, so that two types can mean two things. */
function typesOf(policies: readonly CedarPolicy[]): Types {
  const of = (part: 'principal' | 'action') =>
    new Set(
      policies.flatMap(({ [part]: { entity, entities = [], entity_type: type } }) => [
        ...[...entities, ...(entity ? [entity] : [])].map((one) => one.type),
        ...(type === undefined ? [] : [type]),
      ]),
    )
  return { principal: of('principal'), action: of('action') }
}

/** The rule, and why it is not exactly the policy: parts that cannot be said are those of every request. */
function policyOf(policy: CedarPolicy, types: Types, { flatActions }: CedarOptions) {
  const isForbid = policy.effect === 'forbid'
  const why: string[] = []
  const attempt = <T>(of: string, work: () => T): T | null => {
    try {
      return work()
    } catch (error) {
      if (!(error instanceof Unknown)) throw error
      why.push(`${of}: ${error.message}`)
      return null
    }
  }
  const agents = attempt('principal', () => names(policy.principal, types.principal, isForbid))
  const actions = attempt('action', () => {
    if (policy.action.op === 'in' && isForbid && !flatActions)
      throw new Unknown('may have groups of actions; --flat-actions says that there are none')
    return names(policy.action, types.action, isForbid)
  })
  const resources = attempt('resource', () => resourcesOf(policy.resource))
  const conditions = policy.conditions.flatMap(({ kind, body }) => {
    const text = attempt(kind, () => celOf(body, 0))
    if (text === null) return []
    return [kind === 'when' ? text : `!(${text})`]
  })
  let condition = conditions.map((one) => `(${one})`).join(' && ')
  if (condition.length > MAX_CONDITION) {
    why.push('the condition is too long')
    condition = ''
  }
  const rule = {
    effect: isForbid ? 'deny' : 'allow',
    ...(agents && { agents }),
    ...(actions && { actions }),
    ...(resources && { resources }),
    ...(condition !== '' && { condition }),
  }
  return { rule, why }
}

const MAX_CONDITION = 2048
const MAX_PATTERNS = 50
const MAX_DEPTH = 10

/** Names of agents or actions; null for all. */
function names(
  { op, entity, entities }: Constraint,
  types: ReadonlySet<string>,
  isForbid: boolean,
): string[] | null {
  if (op === 'All') return null
  const listed = op === '==' && entity ? [entity] : op === 'in' && entities ? entities : null
  if (!listed) throw new Unknown(`${op} of this kind is not known`)
  // A deny is for the name, whatever its type.
  if (types.size > 1 && !isForbid)
    throw new Unknown(`the policies have several types: ${[...types].join(', ')}`)
  return patternsOf(listed.map(({ id }) => id))
}

function resourcesOf({ op, entity, entity_type: type, in: group }: Constraint): string[] | null {
  if (op === 'All') return null
  if (op === '==' && entity) return patternsOf([`${entity.type}:${entity.id}`])
  if (op !== 'is' || type === undefined || group !== undefined)
    throw new Unknown(`${op} of this kind is not known`)
  return patternsOf([type]).map((name) => `${name}:*`)
}

function patternsOf(texts: readonly string[]): string[] {
  const odd = texts.find((text) => !isName(text) || text.includes('*'))
  if (odd !== undefined) throw new Unknown(`${quoted(odd)} is not a name in Remit`)
  if (texts.length === 0 || texts.length > MAX_PATTERNS)
    throw new Unknown(`has not 1 to ${MAX_PATTERNS} names`)
  return [...texts]
}

const Expression = z.record(z.string(), z.unknown())
const Two = z.object({ left: Expression, right: Expression })
const ORDER = new Set(['<', '<=', '>', '>='])
const IDENTIFIER = /^[A-Za-z_]\w*$/
/** Words that CEL reserves. */
const RESERVED = new Set(
  'as break const continue else false for function if import in let loop namespace null package return true var void while'.split(
    ' ',
  ),
)

/**
 * A condition in CEL that is true or false where that of Cedar is, and an error where that is one. `&&`
 * and `||` of CEL ignore an error on one side where the other settles it, and those of Cedar do not, so
 * that they become `? :`.
 */
function celOf(body: unknown, depth: number): string {
  const expression = Expression.safeParse(body).data ?? {}
  const [[operator, operands] = ['', null], ...others] = Object.entries(expression)
  if (others.length > 0 || depth > MAX_DEPTH) throw new Unknown('is not a condition that is known')
  if (operator === 'Value' && typeof operands === 'boolean') return String(operands)
  if (operator === '.' || operator === 'has') {
    const path = memberOf(operands)
    return operator === 'has' ? `has(${path})` : path
  }
  if (operator === '!') {
    const { arg } = z.object({ arg: z.unknown() }).safeParse(operands).data ?? { arg: null }
    return `!(${celOf(arg, depth + 1)})`
  }
  const two = Two.safeParse(operands).data
  if (!two) throw new Unknown(`${operator} is not known`)
  const { left, right } = two
  if (operator === '&&') return `(${celOf(left, depth + 1)}) ? (${celOf(right, depth + 1)}) : false`
  if (operator === '||') return `(${celOf(left, depth + 1)}) ? true : (${celOf(right, depth + 1)})`
  if (operator === 'contains') return `${operandOf(right)} in ${setOf(left)}`
  if (operator !== '==' && operator !== '!=' && !ORDER.has(operator))
    throw new Unknown(`${operator} is not known`)
  checkComparison(operator, left, right)
  return `${operandOf(left)} ${operator} ${operandOf(right)}`
}

type Expression = z.infer<typeof Expression>

/** Sets of Cedar have no order, and texts no less and more: CEL would compare them in another way. */
function checkComparison(operator: string, left: Expression, right: Expression): void {
  const literals = [left['Value'], right['Value']].filter((value) => value !== undefined)
  if (literals.length !== 1) throw new Unknown('only a member and a value can be compared')
  if (ORDER.has(operator) && literals.some((value) => typeof value !== 'number'))
    throw new Unknown(`${operator} is only known for numbers`)
}

function operandOf(expression: Expression): string {
  if ('.' in expression) return memberOf(expression['.'])
  const { Value: value } = expression
  if (typeof value === 'string') return quoted(value)
  if (typeof value === 'boolean' || Number.isSafeInteger(value)) return String(value)
  throw new Unknown('a value is not a text, a whole number, true or false')
}

function setOf(expression: Expression): string {
  const set = z.array(z.object({ Value: z.unknown() })).safeParse(expression['Set']).data
  if (!set) throw new Unknown('contains is only known for a set of values')
  return `[${set.map((one) => operandOf(one)).join(', ')}]`
}

/** `context.name`: entities of Cedar, which a member can be, have members that a request does not. */
function memberOf(operands: unknown): string {
  const read = z
    .object({ left: z.object({ Var: z.literal('context') }), attr: z.string().regex(IDENTIFIER) })
    .safeParse(operands).data
  if (!read || RESERVED.has(read.attr)) throw new Unknown('reads more than a member of context')
  return `context.${read.attr}`
}
