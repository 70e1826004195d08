import { awsKms } from './aws.ts'
import type { KeyReference } from './reference.ts'
import type { Env, RemoteKey } from './service.ts'
import { vaultTransit } from './vault.ts'

/**
 * Returns the key of a reference, with the credentials of the environment that the service's own
 * tools use. `endpoint` replaces the address of the service.
 */
export function openRemoteKey(reference: KeyReference, env: Env, endpoint?: string): RemoteKey {
  return reference.service === 'awskms'
    ? awsKms(reference.key, env, endpoint)
    : vaultTransit(reference, env, endpoint)
}
