import { execFile } from 'node:child_process'
import { tmpdir } from 'node:os'
import { promisify } from 'node:util'
import type { Clock } from '@remit/core/base'

/** Every `curl` of a page as one line, in its order. */
export const curlsIn = (page: string): string[] =>
  [...page.matchAll(/^```sh\n(.*?)^```/gms)]
    .flatMap(([, block = '']) => block.replaceAll('\\\n', '').split('\n'))
    .filter((line) => line.startsWith('curl '))

/** Runs a `curl` as it stands; gives the status and the body of its answer. */
export async function runShown(
  command: string,
  env: Record<string, string>,
): Promise<{ status: number; text: string }> {
  const shown = command.replace('curl -s', `curl -s -w '%{stderr}%{http_code}'`)
  const { stdout, stderr } = await promisify(execFile)('sh', ['-c', shown], { env, cwd: tmpdir() })
  return { status: Number(stderr), text: stdout }
}

/** A clock that is late until it catches up: what is made before is some seconds old by `date`. */
export function sinceASecond(): Clock & { catchUp(): void } {
  let late = 2000
  return {
    now: () => Date.now() - late,
    catchUp: () => {
      late = 0
    },
  }
}
