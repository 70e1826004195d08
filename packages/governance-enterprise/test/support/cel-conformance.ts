import { celMap, celType, celUint, isCelList, isCelMap, isCelUint, isCelType } from '@bufbuild/cel'
import type { CelInput } from '@bufbuild/cel'
import { readDataJson } from './shared-data.ts'

type Value = Readonly<Record<string, unknown>>

/** A test of the public CEL suite, as `data/cel/README.md` describes it. */
export interface ConformanceTest {
  readonly file: string
  readonly section: string
  readonly name: string
  readonly proto: boolean
  readonly checkOnly?: boolean
  readonly expr: string
  readonly container?: string
  readonly bindings?: Readonly<Record<string, { readonly value: Value }>>
  readonly value?: Value
  readonly evalError?: unknown
}

const PROMISED = new Set(
  'basic comparisons conversions dynamic fields fp_math integer_math lists logic macros namespace parse plumbing string string_ext timestamps'.split(
    ' ',
  ),
)

/** The part of the suite that a condition needs: no protobuf messages, no further extensions. */
export const promisedTests = (): ConformanceTest[] =>
  (readDataJson('cel/conformance.json') as ConformanceTest[]).filter(
    ({ file, proto, checkOnly }) => PROMISED.has(file) && !proto && !checkOnly,
  )

export const nameOf = ({ file, section, name, expr }: ConformanceTest): string =>
  `${file}/${section}/${name}: ${expr}`

interface Entries {
  readonly entries?: readonly { readonly key: Value; readonly value: Value }[]
}
interface Values {
  readonly values?: readonly Value[]
}

/** A value of the suite, with its CEL type. */
export function fromSuite(value: Value): CelInput {
  const [[kind, inner] = []] = Object.entries(value)
  switch (kind) {
    case 'int64Value':
      return BigInt(inner as string)
    case 'uint64Value':
      return celUint(BigInt(inner as string))
    case 'doubleValue':
      return Number(inner)
    case 'bytesValue':
      return Buffer.from(inner as string, 'base64')
    case 'nullValue':
      return null
    case 'listValue':
      return ((inner as Values).values ?? []).map(fromSuite)
    case 'mapValue':
      return celMap(
        new Map(
          ((inner as Entries).entries ?? []).map(({ key, value: member }) => [
            fromSuite(key) as string,
            fromSuite(member),
          ]),
        ),
      )
    default:
      return inner as string | boolean
  }
}

/** A value of the suite as JSON, or undefined where JSON has none. */
export function asJson(value: Value): unknown {
  const [[kind, inner] = []] = Object.entries(value)
  if (kind === 'stringValue' || kind === 'boolValue') return inner
  if (kind === 'doubleValue') return Number.isFinite(Number(inner)) ? Number(inner) : undefined
  if (kind !== 'listValue') return undefined
  const items = ((inner as Values).values ?? []).map(asJson)
  return items.includes(undefined) ? undefined : items
}

/** Text that is equal for values of one type and worth only; maps in any order. */
export function canonical(value: unknown): string {
  if (typeof value === 'bigint') return `int ${value}`
  if (typeof value === 'number') return `double ${Object.is(value, -0) ? 0 : value}`
  if (typeof value !== 'object' || value === null) return `${typeof value} ${String(value)}`
  if (value instanceof Uint8Array) return `bytes ${Buffer.from(value).toString('hex')}`
  if (isCelUint(value)) return `uint ${value.value}`
  if (isCelType(value)) return `type ${value.name.replace(/\(.*/s, '')}`
  if (Array.isArray(value)) return `[${value.map(canonical).join(', ')}]`
  if (isCelList(value)) return `[${[...value].map(canonical).join(', ')}]`
  if (isCelMap(value)) {
    const entries = [...value].map(([key, member]) => `${canonical(key)}: ${canonical(member)}`)
    return `{${entries.toSorted().join(', ')}}`
  }
  return `message ${celType(value as never).name}`
}
