/** Mappings of the AuthZEN binding for MCP (COAZ-MCP), before their expressions are compiled. */

/** The member of a tool's `inputSchema` in which its server declares a mapping. */
const DECLARED = 'x-authzen-mapping'
const MAX_EXPRESSION = 2_048
/** A path with optional members, which the evaluator of CEL does not have. */
const OPTIONAL = /^(params|token)((?:\.\??[A-Za-z_]\w*)+)$/

type Members = Readonly<Record<string, unknown>>

/** A mapping that cannot be used, or that does not fit a call; the message names the place. */
export class MappingError extends Error {
  override readonly name = 'MappingError'
}

export const mappingFault = (place: string, problem: string): MappingError =>
  new MappingError(`${place}: ${problem}`)

export interface CoazPart {
  readonly template: unknown
  readonly place: string
}

/** The parts of a mapping that become the question to Remit. */
export interface CoazParts {
  readonly action: CoazPart
  readonly type: CoazPart
  readonly id: CoazPart
  readonly context: CoazPart
}

/** The mapping that a definition of `tools/list` declares; undefined if there is none. */
export function declaredMapping({ inputSchema }: Members): unknown {
  return isMembers(inputSchema) && Object.hasOwn(inputSchema, DECLARED)
    ? inputSchema[DECLARED]
    : undefined
}

/**
 * The parts of a mapping with the envelope `evaluation`. The subject is the caller that Remit knows, so that
 * `subject.id` can be nothing but `$token.sub`. Throws `MappingError`. Pure.
 */
export function coazParts(mapping: unknown): CoazParts {
  const { evaluation, ...others } = isMembers(mapping) ? mapping : {}
  if (!isMembers(evaluation) || Object.keys(others).length > 0)
    throw new MappingError('must have "evaluation" and no other member')
  const { subject = {}, action, resource, context = {}, ...unknown } = evaluation
  for (const name of Object.keys(unknown))
    throw mappingFault(`evaluation.${name}`, 'is not a known field')
  const { id: subjectId = '$token.sub' } = isMembers(subject) ? subject : {}
  if (subjectId !== '$token.sub')
    throw mappingFault('evaluation.subject.id', 'must be "$token.sub": the subject is the caller')
  if (!isMembers(context)) throw mappingFault('evaluation.context', 'must be an object')
  return {
    action: memberOf(action, 'name', 'evaluation.action'),
    type: memberOf(resource, 'type', 'evaluation.resource'),
    id: memberOf(resource, 'id', 'evaluation.resource'),
    context: { template: context, place: 'evaluation.context' },
  }
}

function memberOf(object: unknown, name: string, at: string): CoazPart {
  const place = `${at}.${name}`
  if (!isMembers(object) || object[name] === undefined) throw mappingFault(place, 'is required')
  return { template: object[name], place }
}

/** A text of a template: a literal, an expression in CEL, or a path with optional members. */
export type CoazText =
  | { readonly kind: 'literal'; readonly value: string }
  | { readonly kind: 'expression'; readonly source: string }
  | { readonly kind: 'path'; readonly root: 'params' | 'token'; readonly path: string }

/** A text stands for itself, `$…` is an expression, and `$$…` a literal that begins with `$`. Pure. */
export function coazText(text: string, place: string): CoazText {
  if (!text.startsWith('$')) return { kind: 'literal', value: text }
  const source = text.slice(1)
  if (source.startsWith('$')) return { kind: 'literal', value: source }
  if (source.length > MAX_EXPRESSION)
    throw mappingFault(place, `must have at most ${MAX_EXPRESSION} characters`)
  const [, root, path] = OPTIONAL.exec(source) ?? []
  if ((root === 'params' || root === 'token') && path?.includes('.?'))
    return { kind: 'path', root, path }
  return { kind: 'expression', source }
}

/** All texts of a mapping. Throws `MappingError`. Pure. */
export function coazTexts(mapping: unknown): (CoazText & { readonly place: string })[] {
  const visit = ({ template, place }: CoazPart): (CoazText & { readonly place: string })[] => {
    if (typeof template === 'string') return [{ ...coazText(template, place), place }]
    if (typeof template !== 'object' || template === null) return []
    return Object.entries(template).flatMap(([name, part]: [string, unknown]) =>
      visit({ template: part, place: `${place}.${name}` }),
    )
  }
  return Object.values(coazParts(mapping)).flatMap(visit)
}

const isMembers = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
