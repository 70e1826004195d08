import { setPriority } from 'node:os'

// Decisions come first where processors are short. Every thread loads this before its own module: to
// load that takes hundreds of milliseconds. On Linux a thread has a priority of its own
// (setpriority(2)); elsewhere it would be that of the whole server.
if (process.platform === 'linux') {
  try {
    setPriority(10)
  } catch {
    // A sandbox may forbid it. The work is the same, only less polite.
  }
}
