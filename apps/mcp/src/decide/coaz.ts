import { celEnv, isCelList, isCelMap, parse, plan } from '@bufbuild/cel'
import { isMembers } from '../rpc/members.ts'
import type { Members } from '../rpc/members.ts'

/** A mapping that cannot be used, or that does not fit a call; the message names the place. */
export class MappingError extends Error {
  override readonly name = 'MappingError'
}

/** Inputs of expressions (COAZ-MCP, "Information Model"). */
export interface CoazInputs {
  readonly params: Members
  readonly token: Members
}

interface Evaluation {
  readonly action: string
  readonly resource: { readonly type: string; readonly id: string }
  readonly context: Members
}

/** A compiled mapping: what Remit is asked about a call. */
export type Coaz = (inputs: CoazInputs) => Evaluation

type Resolve = (inputs: CoazInputs) => unknown

const ENVIRONMENT = celEnv({})
const MAX_EXPRESSION = 2_048
/** A path with optional members, which the evaluator does not have. */
const OPTIONAL = /^(params|token)((?:\.\??[A-Za-z_]\w*)+)$/

/**
 * Compiles a mapping as `x-authzen-mapping` has it, with the envelope `evaluation`. The subject is the caller
 * that Remit knows, so that `subject.id` can be nothing but `$token.sub`. Throws `MappingError`. Pure.
 */
export function compileCoaz(mapping: unknown): Coaz {
  const { evaluation, ...others } = isMembers(mapping) ? mapping : {}
  if (!isMembers(evaluation) || Object.keys(others).length > 0)
    throw new MappingError('must have "evaluation" and no other member')
  const { subject = {}, action, resource, context = {}, ...unknown } = evaluation
  for (const name of Object.keys(unknown)) throw fault(`evaluation.${name}`, 'is not a known field')
  const { id: subjectId = '$token.sub' } = isMembers(subject) ? subject : {}
  if (subjectId !== '$token.sub')
    throw fault('evaluation.subject.id', 'must be "$token.sub": the subject is the caller')
  const name = compiled(memberOf(action, 'name', 'evaluation.action'), 'evaluation.action.name')
  const place = 'evaluation.resource'
  const type = compiled(memberOf(resource, 'type', place), `${place}.type`)
  const id = compiled(memberOf(resource, 'id', place), `${place}.id`)
  const facts = compiled(context, 'evaluation.context')
  return (inputs) => ({
    action: textOf(name(inputs), 'evaluation.action.name'),
    resource: {
      type: textOf(type(inputs), `${place}.type`),
      id: textOf(id(inputs), `${place}.id`),
    },
    context: facts(inputs) as Members,
  })
}

const fault = (place: string, problem: string) => new MappingError(`${place}: ${problem}`)

function memberOf(object: unknown, name: string, place: string): unknown {
  if (!isMembers(object) || object[name] === undefined)
    throw fault(`${place}.${name}`, 'is required')
  return object[name]
}

function textOf(value: unknown, place: string): string {
  if (typeof value === 'string' && value !== '') return value
  if (typeof value === 'number') return String(value)
  throw fault(place, 'must be a text')
}

/** A literal stands for itself, `$…` is an expression, and `$$…` a literal that begins with `$`. */
function compiled(template: unknown, place: string): Resolve {
  if (Array.isArray(template)) {
    const parts = template.map((part, at) => compiled(part, `${place}.${at}`))
    return (inputs) => parts.map((part) => part(inputs)).filter((part) => part !== undefined)
  }
  if (isMembers(template)) {
    const parts = Object.entries(template).map(
      ([name, part]) => [name, compiled(part, `${place}.${name}`)] as const,
    )
    return (inputs) =>
      Object.fromEntries(
        parts
          .map(([name, part]) => [name, part(inputs)] as const)
          .filter(([, value]) => value !== undefined),
      )
  }
  if (typeof template !== 'string' || !template.startsWith('$')) return () => template
  if (template.startsWith('$$')) return () => template.slice(1)
  return expression(template.slice(1), place)
}

function expression(text: string, place: string): Resolve {
  if (text.length > MAX_EXPRESSION)
    throw fault(place, `must have at most ${MAX_EXPRESSION} characters`)
  const [, root, path] = OPTIONAL.exec(text) ?? []
  if (root !== undefined && path?.includes('.?'))
    return optional(root as keyof CoazInputs, path, place)
  const run = planned(text, place)
  return (inputs) => {
    const value = run({ ...inputs })
    if (value instanceof Error) throw fault(place, `$${text} failed: ${value.message}`)
    return jsonOf(value, place)
  }
}

function planned(text: string, place: string) {
  try {
    const { expr } = parse(text)
    if (!expr) throw new Error('is empty')
    return plan(ENVIRONMENT, expr) as (bindings: Record<string, unknown>) => unknown
  } catch (error) {
    throw fault(place, `$${text} is no expression: ${(error as Error).message}`)
  }
}

function optional(root: keyof CoazInputs, path: string, place: string): Resolve {
  const steps = [...path.matchAll(/\.(\??)(\w+)/g)].map(([, mark, name = '']) => ({ mark, name }))
  return (inputs) => {
    let value: unknown = inputs[root]
    for (const { mark, name } of steps) {
      const found = isMembers(value) && Object.hasOwn(value, name)
      if (!found && mark === '?') return undefined
      if (!found) throw fault(place, `there is no ${name}`)
      value = (value as Members)[name]
    }
    return value
  }
}

/** A result of CEL as JSON. */
function jsonOf(value: unknown, place: string): unknown {
  if (typeof value === 'bigint') return Number(value)
  if (isCelList(value)) return [...value].map((item) => jsonOf(item, place))
  if (isCelMap(value))
    return Object.fromEntries(
      [...value].map(([name, item]) => [nameOf(name, place), jsonOf(item, place)]),
    )
  if (value === null || ['string', 'number', 'boolean'].includes(typeof value)) return value
  throw fault(place, 'is no value of JSON')
}

function nameOf(name: unknown, place: string): string {
  if (typeof name === 'string') return name
  throw fault(place, 'has a map whose names are no texts')
}
