import { readdirSync, readFileSync } from 'node:fs'

/** Clock ticks a second in `/proc`, on every Linux. */
const TICKS = 100

interface Stat {
  readonly parent: number
  readonly seconds: number
}

/** The process of the server whose backend has this id; undefined outside of Linux. */
export const serverOf = (backend: number): number | undefined => statOf(backend)?.parent

/** The processor time of a database server and its backends. */
export function databaseCpuSeconds(server: number): number {
  const processes = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  const stats = processes.map((name) => [Number(name), statOf(Number(name))] as const)
  return stats.reduce(
    (sum, [own, stat]) =>
      stat && (own === server || stat.parent === server) ? sum + stat.seconds : sum,
    0,
  )
}

/** The parent and the time of a process, with that of its children that ended. */
function statOf(pid: number): Stat | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1')
    // The name before the last parenthesis may hold blanks.
    const fields = text
      .slice(text.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number)
    const ticks = fields.slice(11, 15).reduce((sum, each) => sum + each, 0)
    return { parent: fields[1] ?? 0, seconds: ticks / TICKS }
  } catch {
    return undefined
  }
}
