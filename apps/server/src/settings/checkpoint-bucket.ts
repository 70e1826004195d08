import type { Settings } from '@remit/core/module'
import { ConfigError } from './config.ts'
import type { Config } from './config.ts'

/** The object store for checkpoints, with the credentials of AWS's own tools; none without its URL. */
export function checkpointBucket(config: Config): Pick<Settings, 'checkpointBucket'> {
  const { REMIT_CHECKPOINT_BUCKET: text, REMIT_CHECKPOINT_LOCK_DAYS: lockDays } = config
  if (text === undefined) return {}
  const { origin, pathname } = new URL(text)
  const [, bucket = '', ...folders] = decodeURIComponent(pathname).split('/')
  const path = folders.filter((folder) => folder !== '').join('/')
  const token = process.env['AWS_SESSION_TOKEN']
  return {
    checkpointBucket: {
      bucket: {
        endpoint: origin,
        bucket,
        region: process.env['AWS_REGION'] ?? 'us-east-1',
        accessKeyId: needed('AWS_ACCESS_KEY_ID'),
        secretAccessKey: needed('AWS_SECRET_ACCESS_KEY'),
        ...(token && { sessionToken: token }),
      },
      prefix: path === '' ? '' : `${path}/`,
      lockDays,
    },
  }
}

function needed(name: string): string {
  const value = process.env[name]
  if (value === undefined || value === '')
    throw new ConfigError(`REMIT_CHECKPOINT_BUCKET needs the environment variable ${name}`)
  return value
}
