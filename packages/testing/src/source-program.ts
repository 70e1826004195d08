import { join } from 'node:path'
import { demanded } from './on-demand.ts'

/** Arguments with which Node runs a program from its sources; the same as those of `pnpm start`. */
export const SOURCE_FLAGS: readonly string[] = [
  '--min-semi-space-size=32',
  '--v8-pool-size=1',
  '--conditions=@remit/source',
]

/**
 * The environment of a program that a test starts: no setting of this process, but the folder of
 * compiled modules. Without the folder, each process compiles a thousand modules anew.
 */
export const programEnv = (
  more: Readonly<Record<string, string>> = {},
): Record<string, string> => ({
  PATH: process.env['PATH'] ?? '',
  NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] ?? '',
  ...more,
})

/**
 * Path of a program or thread in the bundle of the sources, which a test run makes when a test needs one; its names are
 * in `apps/server/test/support`. A process loads it in a fourth of the time of the modules.
 */
export const bundledProgram = (name: string): string => {
  folder ??= demanded('REMIT_TEST_PROGRAMS')
  return join(folder, `${name}.js`)
}

let folder: string | undefined
