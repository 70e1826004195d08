import { hash } from 'node:crypto'
import type { Signature } from './signature.ts'
import { indexSignatures, withCategory } from './signature.ts'
import { abuse } from './signatures/abuse.ts'
import { delimiter } from './signatures/delimiter.ts'
import { indirect } from './signatures/indirect.ts'
import { jailbreak } from './signatures/jailbreak.ts'
import { languages } from './signatures/languages.ts'
import { leak } from './signatures/leak.ts'
import { override } from './signatures/override.ts'

/** All signatures of this version. */
export const signatures: readonly Signature[] = [
  ...override,
  ...leak,
  ...jailbreak,
  ...delimiter,
  ...indirect,
  ...abuse,
  ...languages,
].map(withCategory)

export const signatureIndex = indexSignatures(signatures)

/** Version of the rules, SHA-256 in hex: a different digest means different rules. */
export const signatureDigest = hash('sha256', JSON.stringify(signatures), 'hex')
