/**
 * The static type of a value. `json` is a part of the request, whose numbers are CEL doubles;
 * `record` a map of such; `unknown` any value.
 */
export type ValueType =
  | 'bool'
  | 'int'
  | 'uint'
  | 'double'
  | 'string'
  | 'bytes'
  | 'null'
  | 'list'
  | 'map'
  | 'timestamp'
  | 'duration'
  | 'type'
  | 'json'
  | 'record'
  | 'unknown'

/** The variables of a condition and their types. */
export type Variables = Readonly<Record<string, 'string' | 'double' | 'record' | 'timestamp'>>

/** The amount of a request in US dollars, however the request spells it. */
export const AMOUNT = 'amount_usd'
/** The operand of `has(amount_usd)`: a record with the amount, an empty one, or nothing if it is invalid. */
export const AMOUNT_RECORD = '@amount_usd'

/** The variables of conditions about `/v1/authorize`. */
export const AUTHORIZE_VARIABLES: Variables = {
  action: 'string',
  agent_id: 'string',
  agent: 'record',
  resource: 'record',
  context: 'record',
  subject: 'record',
  action_properties: 'record',
  now: 'timestamp',
  [AMOUNT]: 'double',
  [AMOUNT_RECORD]: 'record',
}

const NUMBERS: ReadonlySet<ValueType> = new Set(['int', 'uint', 'double'])
const OPEN: ReadonlySet<ValueType> = new Set(['json', 'unknown'])

export const isNumber = (kind: ValueType): boolean => NUMBERS.has(kind)

/** Returns whether values of two types can ever be equal or compared. */
export function isComparable(a: ValueType, b: ValueType): boolean {
  if (a === b || OPEN.has(a) || OPEN.has(b)) return true
  if (isNumber(a) && isNumber(b)) return true
  const both = new Set([a, b])
  return both.has('record') && both.has('map')
}

/** Returns whether a value of this type can be `true` or `false`. */
export const mayBeBool = (kind: ValueType): boolean => kind === 'bool' || OPEN.has(kind)

/** A type in messages. */
export const named = (kind: ValueType): string =>
  kind === 'record' || kind === 'json'
    ? { record: 'a map', json: 'a value of the request' }[kind]
    : `${/^[aeiou]/.test(kind) ? 'an' : 'a'} ${kind}`

/** The type of a choice between two branches. */
export const either = (a: ValueType, b: ValueType): ValueType => (a === b ? a : 'unknown')

export function timeArithmetic(operator: string, a: ValueType, b: ValueType): ValueType {
  if (a === 'timestamp' && b === 'timestamp') return operator === '-' ? 'duration' : 'unknown'
  if (a === 'duration' && b === 'duration') return 'duration'
  return a === 'timestamp' || b === 'timestamp' ? 'timestamp' : 'unknown'
}

interface Signature {
  /** The accepted numbers of arguments. */
  readonly arity: readonly number[]
  readonly gives: ValueType
}

const takes = (arity: number[], gives: ValueType): Signature => ({ arity, gives })

/** Global functions: `size(x)`. */
export const GLOBAL_FUNCTIONS: ReadonlyMap<string, Signature> = new Map(
  Object.entries({
    size: takes([1], 'int'),
    int: takes([1], 'int'),
    uint: takes([1], 'uint'),
    double: takes([1], 'double'),
    bool: takes([1], 'bool'),
    string: takes([1], 'string'),
    bytes: takes([1], 'bytes'),
    timestamp: takes([1], 'timestamp'),
    duration: takes([1], 'duration'),
    type: takes([1], 'type'),
    dyn: takes([1], 'unknown'),
    'strings.quote': takes([1], 'string'),
  }),
)

const timeParts = [
  'getFullYear',
  'getMonth',
  'getDate',
  'getDayOfMonth',
  'getDayOfWeek',
  'getDayOfYear',
  'getHours',
  'getMinutes',
  'getSeconds',
  'getMilliseconds',
]

/** Methods: `x.size()`. */
export const METHODS: ReadonlyMap<string, Signature> = new Map([
  ...Object.entries({
    size: takes([0], 'int'),
    contains: takes([1], 'bool'),
    startsWith: takes([1], 'bool'),
    endsWith: takes([1], 'bool'),
    matches: takes([1], 'bool'),
    charAt: takes([1], 'string'),
    indexOf: takes([1, 2], 'int'),
    lastIndexOf: takes([1, 2], 'int'),
    lowerAscii: takes([0], 'string'),
    upperAscii: takes([0], 'string'),
    replace: takes([2, 3], 'string'),
    split: takes([1, 2], 'list'),
    substring: takes([1, 2], 'string'),
    trim: takes([0], 'string'),
    join: takes([0, 1], 'string'),
    format: takes([1], 'string'),
  }),
  ...timeParts.map((name): [string, Signature] => [name, takes([0, 1], 'int')]),
])

/** Type names as values: `type(x) == string`. */
export const TYPE_NAMES: ReadonlySet<string> = new Set([
  'bool',
  'int',
  'uint',
  'double',
  'string',
  'bytes',
  'list',
  'map',
  'null_type',
  'type',
])
