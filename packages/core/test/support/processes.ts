import { spawn } from 'node:child_process'
import type { KeyObject } from 'node:crypto'
import { createInterface } from 'node:readline'
import { bundledProgram, programEnv, SOURCE_FLAGS } from '@remit/testing/pure'

/** The load of one process: concurrent callers, each with a number of entries. */
export interface WriterJob {
  readonly url: string
  readonly orgIds: readonly string[]
  readonly callers: number
  readonly appends: number
}

/** An entry as its caller was answered. */
export interface Written {
  readonly orgId: string
  readonly seq: number
  readonly hash: string
}

interface WriterProcess {
  /** Lets it begin; resolves with what it wrote once it has ended. */
  go(): Promise<readonly Written[]>
}

async function startWriter(job: WriterJob, signingKey: KeyObject): Promise<WriterProcess> {
  const child = spawn(process.execPath, [...SOURCE_FLAGS, bundledProgram('writer-process')], {
    env: programEnv({
      REMIT_TEST_JOB: JSON.stringify(job),
      REMIT_TEST_SIGNING_KEY: String(signingKey.export({ type: 'pkcs8', format: 'pem' })),
    }),
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve))
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const line = async (): Promise<string> => {
    const { done, value } = await lines.next()
    if (done === true) throw new Error(`a writer process ended with ${await ended}`)
    return value
  }
  await line()
  return {
    async go() {
      child.stdin.write('go\n')
      const written = JSON.parse(await line()) as Written[]
      if ((await ended) !== 0) throw new Error('a writer process failed to end')
      return written
    },
  }
}

/** Starts so many processes; the result lets them begin together and resolves with all they wrote. */
export async function startWriters(
  processes: number,
  job: WriterJob,
  signingKey: KeyObject,
): Promise<() => Promise<readonly Written[]>> {
  const started = Array.from({ length: processes }, () => startWriter(job, signingKey))
  const writers = await Promise.all(started)
  return async () => (await Promise.all(writers.map((writer) => writer.go()))).flat()
}
