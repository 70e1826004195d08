import { PASSWORD_IN_URL } from '../personal-data/personal-data.ts'
import { SEPARATOR } from './named-secrets.ts'

/** A key format of one vendor: its name and the whole key as a regular expression. */
export interface KeyFormat {
  readonly kind: string
  readonly form: string
}

/**
 * Keys with a distinctive format, as documented by vendors or secret scanners. Each has a
 * distinctive prefix; a key of no fixed length has no maximum, so that its end is not left behind.
 */
export const KEY_FORMATS: readonly KeyFormat[] = [
  { kind: 'aws_access_key_id', form: '(?:AKIA|ASIA)[A-Z0-9]{16}' },
  { kind: 'github_token', form: 'gh[oprsu]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{22,}' },
  { kind: 'gitlab_token', form: 'gl(?:pat|dt|rt|cbt|ptt|ft|soat|agent)-[\\w-]{20,}' },
  { kind: 'anthropic_key', form: 'sk-ant-[a-z]{3,5}\\d{2}-[\\w-]{60,}' },
  {
    kind: 'openai_key',
    form: 'sk-(?:proj|svcacct|admin)-[\\w-]{40,}|sk-[A-Za-z0-9]{20}T3BlbkFJ[A-Za-z0-9]{20}',
  },
  { kind: 'openrouter_key', form: 'sk-or-v1-[0-9a-f]{64}' },
  { kind: 'google_api_key', form: 'AIza[\\w-]{35}' },
  { kind: 'google_oauth_token', form: 'ya29\\.[\\w-]{30,}|GOCSPX-[\\w-]{28}' },
  { kind: 'huggingface_token', form: 'hf_[A-Za-z]{34}' },
  { kind: 'groq_key', form: 'gsk_[A-Za-z0-9]{52}' },
  { kind: 'xai_key', form: 'xai-[A-Za-z0-9]{80}' },
  { kind: 'replicate_token', form: 'r8_[A-Za-z0-9]{37}' },
  { kind: 'slack_token', form: 'xox[abeoprs]-[A-Za-z0-9-]{10,}|xapp-\\d-[A-Za-z0-9-]{20,}' },
  {
    kind: 'stripe_key',
    form: '(?:sk|rk)_(?:live|test)_[A-Za-z0-9]{16,}|whsec_[A-Za-z0-9]{32,}',
  },
  { kind: 'npm_token', form: 'npm_[A-Za-z0-9]{36}' },
  { kind: 'pypi_token', form: 'pypi-AgEIcHlwaS5vcmc[\\w-]{50,}' },
  { kind: 'sendgrid_key', form: 'SG\\.[\\w-]{22}\\.[\\w-]{43}' },
  { kind: 'digitalocean_token', form: 'do[opr]_v1_[0-9a-f]{64}' },
  { kind: 'shopify_token', form: 'shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}' },
  { kind: 'databricks_token', form: 'dapi[0-9a-f]{32}(?:-\\d)?' },
  { kind: 'hashicorp_vault_token', form: 'hv[sbr]\\.[\\w-]{24,}' },
  { kind: 'linear_key', form: 'lin_api_[A-Za-z0-9]{40}' },
  { kind: 'notion_token', form: 'ntn_[A-Za-z0-9]{40,}' },
  { kind: 'telegram_token', form: '\\d{8,10}:AA[\\w-]{33}' },
  { kind: 'docker_token', form: 'dckr_pat_[\\w-]{27}' },
  { kind: 'remit_key', form: 'rm[cfko]_[A-Za-z0-9]{65}' },
]

/** Secrets without their own format, by the name before them; the group `secret` is the secret. */
export const NAMED_SECRETS: readonly KeyFormat[] = [
  {
    kind: 'aws_secret_access_key',
    form: `aws_?secret_?(?:access_?)?key${SEPARATOR}(?:\\\\*["'])?(?<secret>[A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])`,
  },
  {
    kind: 'azure_storage_key',
    form: 'AccountKey\\s{0,3}=\\s{0,3}(?<secret>[A-Za-z0-9/+]{86}==)',
  },
  {
    kind: 'password_in_url',
    form: PASSWORD_IN_URL,
  },
]

/** Prefixes of the key formats: a text without any of these contains none of the keys. */
export const KEY_BEGINNINGS = [
  'AKIA|ASIA|gh[oprsu]_|github_pat_|gl[a-z]{2,5}-|sk-|AIza|ya29|GOCSPX|hf_|gsk_|xai-|r8_',
  'xox|xapp-|[sr]k_|whsec_|npm_|pypi-|SG\\.|do[opr]_|shp[acs]|dapi|hv[sbr]\\.|lin_api|ntn_',
  '\\d:AA|dckr_|rm[cfko]_',
]
