import { Ajv, str } from 'ajv'
import type { Options, SchemaObject, ValidateFunction } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { canonicalJson } from '@remit/contract/json'
import { isDeeper } from './text.ts'
import { jsonEqual } from './json-equal.ts'
import { isMultipleOf } from './measure/numbers.ts'
import { compilePattern } from '../base/pattern.ts'

const DRAFT_07 = /^https?:\/\/json-schema\.org\/draft-07\/schema#?$/
const DRAFT_2020 = /^https:\/\/json-schema\.org\/draft\/2020-12\/schema#?$/
const MAX_SCHEMA_BYTES = 32 * 1024
const MAX_SCHEMA_DEPTH = 200

export interface SchemaFault {
  /** JSON Pointer (RFC 6901) into the value; empty for the whole value. */
  readonly path: string
  readonly keyword: string
  readonly message: string
}

/** Returns the first error of a value, or null. */
export type SchemaValidator = (value: unknown) => SchemaFault | null

/**
 * Compiles a JSON Schema of draft 2020-12, or draft-07 if `$schema` says so. Patterns are in RE2
 * syntax, formats are not asserted, and external references are not supported. Throws an error with
 * a plain message. Validating can take very long for a malicious schema, so it must run where it
 * can be terminated.
 */
export function compileSchema(schema: unknown): SchemaValidator {
  if (typeof schema === 'boolean')
    return () => (schema ? null : { path: '', keyword: 'false schema', message: 'is never valid' })
  const given = schema as SchemaObject
  if (isDeeper(given, MAX_SCHEMA_DEPTH)) throw new Error('is nested deeper than 200 levels')
  if (Buffer.byteLength(canonicalJson(given)) > MAX_SCHEMA_BYTES)
    throw new Error('is larger than 32 KB')
  // An extension of Ajv: such a schema returns a promise instead of a result.
  if (holdsName(given, '$async')) throw new Error('contains $async')
  const draft = draftOf(given.$schema)
  const wrong = faultOf(metaValidator(draft), given)
  if (wrong) throw new Error(`is not a valid JSON Schema: ${wrong.path} ${wrong.message}`)
  // One compiler per schema: it retains every `$id`, which could belong to another organization.
  const validate = createAjv(draft, { meta: false, validateSchema: false }).compile(given)
  return (value) => faultOf(validate, value)
}

/**
 * Returns true if the name occurs anywhere in the value: a reference may point to any part of it.
 */
function holdsName(value: unknown, name: string): boolean {
  if (typeof value !== 'object' || value === null) return false
  return Object.hasOwn(value, name) || Object.values(value).some((part) => holdsName(part, name))
}

type Draft = '07' | '2020'

function draftOf(name: unknown): Draft {
  if (name === undefined || (typeof name === 'string' && DRAFT_2020.test(name))) return '2020'
  if (typeof name === 'string' && DRAFT_07.test(name)) return '07'
  throw new Error('has a $schema other than draft 2020-12 and draft-07')
}

const metaValidators = new Map<Draft, ValidateFunction>()

function metaValidator(draft: Draft): ValidateFunction {
  const known = metaValidators.get(draft)
  if (known) return known
  const ajv = createAjv(draft, {})
  const name =
    draft === '07'
      ? 'http://json-schema.org/draft-07/schema'
      : 'https://json-schema.org/draft/2020-12/schema'
  const made = ajv.getSchema(name)
  if (!made) throw new Error(`the meta-schema of draft ${draft} is missing`)
  metaValidators.set(draft, made as ValidateFunction)
  return made as ValidateFunction
}

function faultOf(validate: ValidateFunction, value: unknown): SchemaFault | null {
  if (validate(value)) return null
  const [error] = validate.errors ?? []
  return {
    path: error?.instancePath ?? '',
    keyword: error?.keyword ?? '',
    message: error?.message ?? 'is not valid',
  }
}

function createAjv(draft: Draft, options: Options): Ajv | Ajv2020 {
  const common: Options = {
    strict: false,
    // Without this, {} satisfies `required: ["toString"]`.
    ownProperties: true,
    validateFormats: false,
    logger: false,
    code: { regExp: safePattern },
    ...options,
  }
  const ajv = draft === '07' ? new Ajv(common) : new Ajv2020(common)
  useOwnEquality(ajv)
  useOwnDivision(ajv)
  return ajv
}

/** A replacement for `RegExp` in Ajv, which distinguishes patterns by `toString`. */
const safePattern = Object.assign(
  (source: string) => {
    const pattern = compilePattern(source, '', false, Number.POSITIVE_INFINITY)
    return { test: (text: string) => pattern.test(text) === true, toString: () => `/${source}/` }
  },
  { code: 'safePattern' },
)

/**
 * Ajv compares with a library that calls an object's own `valueOf` and reads its `constructor`: in
 * JSON these are ordinary names.
 */
function useOwnEquality(ajv: Ajv | Ajv2020): void {
  for (const keyword of ['const', 'enum', 'uniqueItems']) ajv.removeKeyword(keyword)
  ajv.addKeyword({
    keyword: 'const',
    error: { message: 'must be equal to constant' },
    compile: (wanted: unknown) => (value: unknown) => jsonEqual(wanted, value),
  })
  ajv.addKeyword({
    keyword: 'enum',
    schemaType: 'array',
    error: { message: 'must be equal to one of the allowed values' },
    compile: (allowed: readonly unknown[]) => {
      const plain = new Set(allowed.filter((item) => typeof item !== 'object' || item === null))
      const others = allowed.filter((item) => typeof item === 'object' && item !== null)
      return (value: unknown) => plain.has(value) || others.some((item) => jsonEqual(item, value))
    },
  })
  ajv.addKeyword({
    keyword: 'uniqueItems',
    type: 'array',
    schemaType: 'boolean',
    error: { message: 'must NOT have duplicate items' },
    compile: (wanted: boolean) => (items: readonly unknown[]) =>
      !wanted || new Set(items.map(canonicalJson)).size === items.length,
  })
}

/**
 * Ajv divides in binary, where 19.99 is not a multiple of 0.01, and fails for integers above 1e21.
 */
function useOwnDivision(ajv: Ajv | Ajv2020): void {
  ajv.removeKeyword('multipleOf')
  ajv.addKeyword({
    keyword: 'multipleOf',
    type: 'number',
    schemaType: 'number',
    error: { message: ({ schemaCode }) => str`must be multiple of ${schemaCode}` },
    compile: isMultipleOf,
  })
}
