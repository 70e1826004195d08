import { spawn, spawnSync } from 'node:child_process'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { scratchFolder, TLS_CERTIFICATE, TLS_KEY } from '@remit/testing/pure'
import { vi } from 'vitest'
import { PATIENCE } from './sinks.ts'

const MODULES = ['/usr/lib/x86_64-linux-gnu/rsyslog', '/usr/lib/aarch64-linux-gnu/rsyslog']

/** Returns true if rsyslog with OpenSSL is installed; tests that need it are skipped without it. */
export const hasRsyslog = (): boolean => {
  const isThere =
    spawnSync('rsyslogd', ['-v']).status === 0 &&
    MODULES.some((folder) => existsSync(join(folder, 'lmnsd_ossl.so')))
  if (!isThere) process.stderr.write('skipped: tests of syslog need rsyslog and rsyslog-openssl\n')
  return isThere
}

/** A message as rsyslog parsed it. */
export interface SyslogMessage {
  readonly priority: string
  readonly time: string
  readonly app: string
  readonly id: string
  readonly text: string
}

export interface Rsyslog extends AsyncDisposable {
  readonly url: string
  messages(): SyslogMessage[]
}

/** Starts rsyslog with TLS on a free port. */
export async function startRsyslog(): Promise<Rsyslog> {
  const folder = scratchFolder('rsyslog')
  const at = (name: string) => join(folder, name)
  writeFileSync(at('key.pem'), TLS_KEY)
  writeFileSync(at('cert.pem'), TLS_CERTIFICATE)
  writeFileSync(
    at('rsyslog.conf'),
    `global(workDirectory="${folder}" maxMessageSize="256k"
  defaultNetstreamDriver="ossl" defaultNetstreamDriverCAFile="${at('cert.pem')}"
  defaultNetstreamDriverCertFile="${at('cert.pem')}" defaultNetstreamDriverKeyFile="${at('key.pem')}")
module(load="imtcp" streamDriver.name="ossl" streamDriver.mode="1" streamDriver.authMode="anon")
input(type="imtcp" port="0" address="127.0.0.1" listenPortFileName="${at('port')}")
template(name="line" type="string"
  string="%pri%\\t%timestamp:::date-rfc3339%\\t%app-name%\\t%msgid%\\t%msg%\\n")
action(type="omfile" file="${at('messages')}" template="line")
`,
  )
  const child = spawn('rsyslogd', ['-n', '-f', at('rsyslog.conf'), '-i', at('pid')], {
    stdio: 'ignore',
  })
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const port = await vi.waitFor(() => {
    const text = readFileSync(at('port'), 'utf8').trim()
    if (text === '') throw new Error('rsyslog has no port yet')
    return text
  }, PATIENCE)
  return {
    url: `syslog+tls://localhost:${port}`,
    messages: () =>
      (existsSync(at('messages')) ? readFileSync(at('messages'), 'utf8') : '')
        .split('\n')
        .slice(0, -1)
        .map((line) => {
          const [priority = '', time = '', app = '', id = '', text = ''] = line.split('\t')
          return { priority, time, app, id, text }
        }),
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL')
      await ended
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
