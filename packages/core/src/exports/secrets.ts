export {
  SecretUnreadable,
  SECRETS_KEY_BYTES,
  createSecretBox,
  secretsKeyId,
  generateSecretsKey,
} from '../secrets/secret-box.ts'
export type { SecretBox } from '../secrets/secret-box.ts'
export { createSecretFile } from '../secrets/secret-file.ts'
