import { createWitness, openRemoteKey, parseKeyReference } from '@remit/core/kms'
import type { Settings } from '@remit/core/module'
import type { Config } from './config.ts'

/** The settings of the witness; none without `REMIT_WITNESS`. */
export function witnessSettings({
  REMIT_WITNESS: text,
  REMIT_WITNESS_ENDPOINT: endpoint,
  REMIT_WITNESS_INTERVAL_MS: witnessEveryMs,
}: Config): Pick<Settings, 'witness' | 'witnessEveryMs'> {
  const reference = text === undefined ? null : parseKeyReference(text)
  if (reference === null) return {}
  return { witness: createWitness(openRemoteKey(reference, process.env, endpoint)), witnessEveryMs }
}
