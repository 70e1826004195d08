/** Loaded into a process by `--import`: answers each message with the bytes that a garbage collection leaves. */
process.on('message', () => {
  // A second one frees what finalizers of the first one held.
  for (let times = 0; times < 2; times++) globalThis.gc?.()
  const { heapUsed, external } = process.memoryUsage()
  process.send?.(heapUsed + external)
})
// The process ends as it would without the probe.
process.channel?.unref()
