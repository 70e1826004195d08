/** The server's parts for tests of programs that call it. */
export { listen } from './boot/listen.ts'
export type { Listener } from './boot/listen.ts'
export { hasModules, loadModules } from './boot/modules.ts'
