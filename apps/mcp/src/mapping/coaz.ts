import { celEnv, isCelList, isCelMap, parse, plan } from '@bufbuild/cel'
import { coazParts, coazText, mappingFault } from '@remit/contract/coaz'
import type { CoazPart } from '@remit/contract/coaz'
import { isMembers } from '../rpc/members.ts'
import type { Members } from '../rpc/members.ts'

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

/** Compiles a mapping as `x-authzen-mapping` has it. Throws `MappingError`. Pure. */
export function compileCoaz(mapping: unknown): Coaz {
  const parts = coazParts(mapping)
  const [action, type, id] = [textPart(parts.action), textPart(parts.type), textPart(parts.id)]
  const context = compiled(parts.context)
  const amounts = ['amount_usd', 'amount'].filter((name) =>
    Object.hasOwn(parts.context.template as Members, name),
  )
  return (inputs) => {
    const facts = context(inputs) as Members
    // Without it, a limit would count nothing.
    for (const name of amounts)
      if (typeof facts[name] !== 'number')
        throw mappingFault(`${parts.context.place}.${name}`, 'must be a number')
    return {
      action: action(inputs),
      resource: { type: type(inputs), id: id(inputs) },
      context: facts,
    }
  }
}

/** A part whose value must be a text. */
function textPart(part: CoazPart): (inputs: CoazInputs) => string {
  const resolve = compiled(part)
  return (inputs) => {
    const value = resolve(inputs)
    if (typeof value === 'string' && value !== '') return value
    if (typeof value === 'number') return String(value)
    throw mappingFault(part.place, 'must be a text')
  }
}

function compiled({ template, place }: CoazPart): Resolve {
  if (Array.isArray(template)) {
    const parts = template.map((part, at) => compiled({ template: part, place: `${place}.${at}` }))
    return (inputs) => parts.map((part) => part(inputs)).filter((part) => part !== undefined)
  }
  if (isMembers(template)) {
    const parts = Object.entries(template).map(
      ([name, part]) => [name, compiled({ template: part, place: `${place}.${name}` })] as const,
    )
    return (inputs) =>
      Object.fromEntries(
        parts
          .map(([name, part]) => [name, part(inputs)] as const)
          .filter(([, value]) => value !== undefined),
      )
  }
  return typeof template === 'string' ? resolved(template, place) : () => template
}

function resolved(template: string, place: string): Resolve {
  const text = coazText(template, place)
  if (text.kind === 'literal') return () => text.value
  if (text.kind === 'path') return optional(text.root, text.path, place)
  const run = planned(text.source, place)
  return (inputs) => {
    const value = run({ ...inputs })
    if (value instanceof Error) throw mappingFault(place, `${template} failed: ${value.message}`)
    return jsonOf(value, place)
  }
}

function planned(source: string, place: string) {
  try {
    const { expr } = parse(source)
    if (!expr) throw new Error('is empty')
    return plan(ENVIRONMENT, expr) as (bindings: Record<string, unknown>) => unknown
  } catch (error) {
    throw mappingFault(place, `$${source} is no expression: ${(error as Error).message}`)
  }
}

function optional(root: keyof CoazInputs, path: string, place: string): Resolve {
  const steps = [...path.matchAll(/\.(\??)(\w+)/g)].map(([, mark, name = '']) => ({ mark, name }))
  return (inputs) => {
    let value: unknown = inputs[root]
    for (const { mark, name } of steps) {
      const found = isMembers(value) && Object.hasOwn(value, name)
      if (!found && mark === '?') return undefined
      if (!found) throw mappingFault(place, `there is no ${name}`)
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
  throw mappingFault(place, 'is no value of JSON')
}

function nameOf(name: unknown, place: string): string {
  if (typeof name === 'string') return name
  throw mappingFault(place, 'has a map whose names are no texts')
}

interface Target {
  readonly action?: unknown
  readonly resource?: unknown
  readonly authzen?: unknown
}

/** True where the configuration maps action or resource itself, so that no declared mapping counts. */
export const mapsTarget = ({ action, resource, authzen }: Target): boolean =>
  action !== undefined || resource !== undefined || authzen !== undefined
