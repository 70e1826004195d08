export { Authenticator } from '../keys/authenticator.ts'
export { keyCreation, keyRevocation, keyRotation } from '../keys/changes.ts'
export type { IssuedKey } from '../keys/changes.ts'
export type { CredentialHolder, Credentials } from '../keys/credentials.ts'
export {
  generateKey,
  generateText,
  parseKey,
  isKeyText,
  publicPart,
  hashKey,
} from '../keys/key-text.ts'
export type { NewKey } from '../keys/key-text.ts'
export { findHolders, hasOtherAdmin, findKeyOrganization, listKeys } from '../keys/store.ts'
export { readCookie, writeCookie, consolePlace, isLoopback } from '../sessions/sessions.ts'
export type { PeopleSessions } from '../sessions/people.ts'
export type { Sessions } from '../sessions/sessions.ts'
export { endSessionsOf } from '../sessions/store.ts'
