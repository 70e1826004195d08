/** CPU time of this thread in milliseconds, so that a busy machine does not cause denials. */
export const computedMs = (): number => msOf(process.threadCpuUsage())

export const msOf = ({ user, system }: NodeJS.CpuUsage): number => (user + system) / 1000
