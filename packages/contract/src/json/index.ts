export { CanonicalJsonError, canonicalJson } from './canonical-json.ts'
export { parseStrictJson, StrictJsonError } from './strict-json.ts'
export type { JsonLimits, StrictJsonOptions } from './strict-json.ts'
export { numberFault } from './strict-json.ts'
